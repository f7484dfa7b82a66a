;; power squares what it is given: com.example:Square2(x) of any shape. By hand, as the least that a plugin can be.
;;
;;   wat2wasm power.wat
(module
  (memory (export "memory") 1)
  (data (i32.const 16)
    "\ab\00\00\00\00\00\00\00"
    "{\"abi\":1,\"name\":\"power\",\"version\":\"1.0\",\"ops\":[{\"domain\":\"com.example\",\"name\":\"Square2\","
    "\"doc\":\"squares\",\"inputs\":[{\"name\":\"x\",\"types\":[\"f32\"]}],\"outputs\":[{\"name\":\"y\"}]}]}")
  (func (export "trtui_manifest") (result i32) (i32.const 16))
  ;; one block at a time, from 4096 on; the answer of trtui_infer is at 1024
  (func (export "trtui_alloc") (param $size i32) (result i32)
    (local $more i32)
    (local.set $more (i32.sub
      (i32.shr_u (i32.add (local.get $size) (i32.const 69631)) (i32.const 16))
      (memory.size)))
    (if (i32.gt_s (local.get $more) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $more)) (i32.const -1)) (then (return (i32.const 0))))))
    (i32.const 4096))
  ;; request: op, attributes, inputs, outputs, then type, rank, extents, address and bytes of x
  (func (export "trtui_infer") (param $p i32) (result i32)
    (local $i i32)
    (i64.store (i32.const 1024) (i64.const 0))
    (local.set $i (i32.const 0))
    (loop $copy
      (i64.store offset=1032 (local.get $i) (i64.load offset=32 (i32.add (local.get $p) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (br_if $copy (i32.le_u (local.get $i) (i32.add (i32.const 8) (i32.shl (i32.wrap_i64 (i64.load offset=40 (local.get $p))) (i32.const 3))))))
    (i32.const 1024))
  (func (export "trtui_eval") (param $p i32) (result i32)
    (local $x i32) (local $y i32) (local $end i32)
    (local.set $p (i32.add (local.get $p) (i32.shl (i32.wrap_i64 (i64.load offset=40 (local.get $p))) (i32.const 3))))
    (local.set $x (i32.wrap_i64 (i64.load offset=48 (local.get $p))))
    (local.set $end (i32.add (local.get $x) (i32.wrap_i64 (i64.load offset=56 (local.get $p)))))
    ;; y has the rank of x
    (local.set $p (i32.add (local.get $p) (i32.shl (i32.wrap_i64 (i64.load offset=72 (local.get $p))) (i32.const 3))))
    (local.set $y (i32.wrap_i64 (i64.load offset=80 (local.get $p))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $x) (local.get $end)))
        (f32.store (local.get $y) (f32.mul (f32.load (local.get $x)) (f32.load (local.get $x))))
        (local.set $x (i32.add (local.get $x) (i32.const 4)))
        (local.set $y (i32.add (local.get $y) (i32.const 4)))
        (br $next)))
    (i32.const 0)))
