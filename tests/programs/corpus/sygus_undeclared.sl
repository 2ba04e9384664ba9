; truth: refused
(set-logic LIA)
(synth-inv inv ((x Int)))
(define-fun pre ((x Int)) Bool (= x 0))
(define-fun trans ((x Int) (x! Int)) Bool (= x! y))
(define-fun post ((x Int)) Bool (= x 0))
(inv-constraint inv pre trans post)
(check-synth)
