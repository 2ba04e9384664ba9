; truth: unsafe
(set-logic HORN)
(declare-fun p (Bool Bool Bool) Bool)
(assert (forall ((a Bool) (b Bool) (c Bool)) (=> (xor a b c) (p a b c))))
(assert (forall ((a Bool) (b Bool) (c Bool)) (=> (and (p a b c) a b c) false)))
(check-sat)
