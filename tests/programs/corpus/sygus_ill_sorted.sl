; truth: refused
(set-logic LIA)
(synth-inv inv ((x Int)))
(define-fun pre ((x Int)) Bool (= x true))
(define-fun trans ((x Int) (x! Int)) Bool (= x! x))
(define-fun post ((x Int)) Bool true)
(inv-constraint inv pre trans post)
(check-synth)
