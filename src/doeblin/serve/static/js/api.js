// Talking to the server.

export class Refusal extends Error {
  constructor(problem, status, after = NaN) {
    super(problem.message);
    this.line = problem.line;
    this.column = problem.column;
    this.status = status;
    this.after = after; // seconds until it may be asked again, if it says so
  }

  // Did the server look at it and say no? Else it is away, busy, or at fault.
  get refused() {
    return this.status >= 400 && this.status < 500 && this.status !== 429;
  }
}

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ message: "the server cannot be reached; is it still running?" }, 0);
  }
  if (response.status === 204) return null;
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  const odd = { message: `the server's answer, of status ${response.status}, cannot be read` };
  throw new Refusal(body?.error ?? odd, response.status, Number(response.headers.get("Retry-After") ?? NaN));
}

export const get = (path) => answer(path);

export const remove = (path) => answer(path, { method: "DELETE" });

export function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

// Only the newest request counts: an older one that is still on its way is given up.
export function newest(path) {
  let controller = null;
  const ask = async (body) => {
    controller?.abort();
    controller = new AbortController();
    const mine = controller;
    try {
      const found = await post(path, body, mine.signal);
      return mine === controller ? found : null;
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
  ask.drop = () => {
    controller?.abort();
    controller = null;
  };
  return ask;
}
