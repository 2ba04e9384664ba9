; truth: safe
(set-logic HORN)
(declare-fun p (Int Int) Bool)
(assert (p (div (- 7) (- 2)) (mod (- 7) (- 2))))
(assert (forall ((x Int) (y Int)) (=> (and (p x y) (not (and (= x 4) (= y 1)))) false)))
(check-sat)
