; truth: unsafe
(set-logic HORN)
(declare-fun p (Int) Bool)
(assert (let ((a (p 0))) a))
(assert (forall ((x Int)) (let ((a (p x)) (b (p (+ x 1)))) (=> (and a (< x 3)) b))))
(assert (forall ((x Int)) (let ((a (p x))) (let ((a (not a)) (c (= x 3))) (or a (not c))))))
(check-sat)
