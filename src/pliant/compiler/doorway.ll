; The way from Python objects into a kernel: `pliant.compiler.doorway` says what it does and what %spec holds.
; PyObject: reference count 0, type 8. PyArrayObject: data 16, ndim 24, dimensions 32, strides 40, base 48, dtype 56,
; flags 64.
target triple = "TRIPLE"
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define ptr @enter(ptr %self, ptr %given, i64 %count) nounwind {
entry:
  %spec = call ptr @PyLong_AsVoidPtr(ptr %self)
  %data = alloca [64 x ptr], align 16
  %strides = alloca [64 x i64], align 16
  %sizes = alloca [64 x i64], align 16
  %runi = load i64, ptr %spec
  %run = inttoptr i64 %runi to ptr
  %widthp = getelementptr i64, ptr %spec, i64 1
  %width = load i64, ptr %widthp
  %typep = getelementptr i64, ptr %spec, i64 2
  %type = load i64, ptr %typep
  %dtypep = getelementptr i64, ptr %spec, i64 3
  %dtype = load i64, ptr %dtypep
  %itemp = getelementptr i64, ptr %spec, i64 4
  %item = load i64, ptr %itemp
  %ninp = getelementptr i64, ptr %spec, i64 5
  %nin = load i64, ptr %ninp
  %noutp = getelementptr i64, ptr %spec, i64 6
  %nout = load i64, ptr %noutp
  %n = add i64 %nin, %nout
  %heldp = getelementptr i64, ptr %spec, i64 7
  %most.held = load i64, ptr %heldp
  %totalp = getelementptr i64, ptr %spec, i64 8
  %total = load i64, ptr %totalp
  %countsp = getelementptr i64, ptr %spec, i64 9
  %counts = load ptr, ptr %countsp
  %shapes = getelementptr i64, ptr %spec, i64 10
  %all = icmp eq i64 %count, %n
  br i1 %all, label %array, label %reject

array:                                                ; one array after the other
  %k = phi i64 [ 0, %entry ], [ %k.next, %accepted ]
  %want = phi ptr [ %shapes, %entry ], [ %want.next, %accepted ]
  %batch = phi i64 [ -1, %entry ], [ %batch.next, %accepted ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %get, label %ready
get:
  %is.in = icmp slt i64 %k, %nin
  %objectp = getelementptr ptr, ptr %given, i64 %k
  %object = load ptr, ptr %objectp
  %its.typep = getelementptr i8, ptr %object, i64 8
  %its.type = load i64, ptr %its.typep
  %is.array = icmp eq i64 %its.type, %type
  br i1 %is.array, label %look2, label %reject
look2:
  %its.dtypep = getelementptr i8, ptr %object, i64 56
  %its.dtype = load i64, ptr %its.dtypep
  %right = icmp eq i64 %its.dtype, %dtype
  br i1 %right, label %flags, label %reject
flags:                                                ; aligned (0x100), and an output writable (0x400)
  %flagsp = getelementptr i8, ptr %object, i64 64
  %its.flags = load i32, ptr %flagsp
  %need = select i1 %is.in, i32 256, i32 1280
  %kept = and i32 %its.flags, %need
  %usable = icmp eq i32 %kept, %need
  br i1 %usable, label %rank, label %reject
rank:
  %bufp = getelementptr i8, ptr %object, i64 16
  %buf = load ptr, ptr %bufp
  %ndimp = getelementptr i8, ptr %object, i64 24
  %ndim32 = load i32, ptr %ndimp
  %ndim = sext i32 %ndim32 to i64
  %shapep = getelementptr i8, ptr %object, i64 32
  %shape = load ptr, ptr %shapep
  %stridep = getelementptr i8, ptr %object, i64 40
  %stride = load ptr, ptr %stridep
  %inner = load i64, ptr %want
  %dims = getelementptr i64, ptr %want, i64 1
  %extra = sub i64 %ndim, %inner
  %plain = icmp eq i64 %extra, 0
  br i1 %plain, label %single, label %maybe
maybe:
  %one = icmp eq i64 %extra, 1
  br i1 %one, label %many, label %reject
single:                                               ; one row for all; for an output, only without a batch
  %no.batch = icmp eq i64 %batch, -1
  %fine = or i1 %is.in, %no.batch
  br i1 %fine, label %inside, label %reject
many:
  %rows = load i64, ptr %shape
  %step = load i64, ptr %stride
  %unset = icmp eq i64 %batch, -1
  %set.by.in = and i1 %unset, %is.in
  %same = icmp eq i64 %batch, %rows
  %agrees = or i1 %set.by.in, %same
  br i1 %agrees, label %inside, label %reject
inside:
  %batch.next = phi i64 [ %batch, %single ], [ %rows, %many ]
  %row.stride = phi i64 [ 0, %single ], [ %step, %many ]
  br label %dimension
dimension:                                            ; inner dimensions: right size, packed
  %d = phi i64 [ %inner, %inside ], [ %d.before, %packed ]
  %packed.size = phi i64 [ %item, %inside ], [ %packed.next, %packed ]
  %left = icmp sgt i64 %d, 0
  br i1 %left, label %check, label %accepted
check:
  %d.before = sub i64 %d, 1
  %wantp = getelementptr i64, ptr %dims, i64 %d.before
  %wanted = load i64, ptr %wantp
  %axis = add i64 %d.before, %extra
  %sizep = getelementptr i64, ptr %shape, i64 %axis
  %size = load i64, ptr %sizep
  %fits = icmp eq i64 %size, %wanted
  br i1 %fits, label %check2, label %reject
check2:
  %gapp = getelementptr i64, ptr %stride, i64 %axis
  %gap = load i64, ptr %gapp
  %near = icmp eq i64 %gap, %packed.size
  %alone.there = icmp ult i64 %size, 2              ; nothing is beside it, so its stride may be anything
  %tight = or i1 %near, %alone.there
  br i1 %tight, label %packed, label %reject
packed:
  %packed.next = mul i64 %packed.size, %size
  br label %dimension
accepted:
  %datap = getelementptr ptr, ptr %data, i64 %k
  store ptr %buf, ptr %datap
  %strp = getelementptr i64, ptr %strides, i64 %k
  store i64 %row.stride, ptr %strp
  %bytesp = getelementptr i64, ptr %sizes, i64 %k
  store i64 %packed.size, ptr %bytesp
  %k.next = add i64 %k, 1
  %skip = add i64 %inner, 1
  %want.next = getelementptr i64, ptr %want, i64 %skip
  br label %array

ready:
  %alone = icmp eq i64 %batch, -1
  %robots = select i1 %alone, i64 1, i64 %batch
  %others = sub i64 %robots, 1
  %several = icmp sgt i64 %robots, 1
  br label %missing
missing:                                              ; outputs that are left out
  %m = phi i64 [ %n, %ready ], [ %m.next, %leave.out ]
  %m.more = icmp slt i64 %m, %total
  br i1 %m.more, label %leave.out, label %complete
leave.out:
  %m.datap = getelementptr ptr, ptr %data, i64 %m
  store ptr null, ptr %m.datap
  %m.next = add i64 %m, 1
  br label %missing
complete:
  br i1 %several, label %output, label %go

output:                                               ; no output may lie across the rows of an input
  %o = phi i64 [ %nin, %complete ], [ %o.next, %output.next ]
  %o.more = icmp slt i64 %o, %n
  br i1 %o.more, label %input.first, label %go
input.first:
  %o.datap = getelementptr ptr, ptr %data, i64 %o
  %o.data = load i64, ptr %o.datap
  %o.stridep = getelementptr i64, ptr %strides, i64 %o
  %o.stride = load i64, ptr %o.stridep
  %o.sizep = getelementptr i64, ptr %sizes, i64 %o
  %o.size = load i64, ptr %o.sizep
  %o.row.end = add i64 %o.data, %o.size
  %o.span = mul i64 %o.stride, %others
  %o.back = icmp slt i64 %o.stride, 0
  %o.down = select i1 %o.back, i64 %o.span, i64 0
  %o.up = select i1 %o.back, i64 0, i64 %o.span
  %o.start = add i64 %o.data, %o.down
  %o.end = add i64 %o.row.end, %o.up
  %o.negated = sub i64 0, %o.stride
  %o.step = select i1 %o.back, i64 %o.negated, i64 %o.stride
  br label %input
input:
  %i = phi i64 [ 0, %input.first ], [ %i.next, %input.next ]
  %i.more = icmp slt i64 %i, %nin
  br i1 %i.more, label %compare, label %output.next
compare:
  %i.datap = getelementptr ptr, ptr %data, i64 %i
  %i.data = load i64, ptr %i.datap
  %i.stridep = getelementptr i64, ptr %strides, i64 %i
  %i.stride = load i64, ptr %i.stridep
  %i.sizep = getelementptr i64, ptr %sizes, i64 %i
  %i.size = load i64, ptr %i.sizep
  %i.row.end = add i64 %i.data, %i.size
  %i.span = mul i64 %i.stride, %others
  %i.back = icmp slt i64 %i.stride, 0
  %i.down = select i1 %i.back, i64 %i.span, i64 0
  %i.up = select i1 %i.back, i64 0, i64 %i.span
  %i.start = add i64 %i.data, %i.down
  %i.end = add i64 %i.row.end, %i.up
  %before = icmp ule i64 %i.end, %o.start
  %after = icmp ule i64 %o.end, %i.start
  %is.apart = or i1 %before, %after
  br i1 %is.apart, label %input.next, label %aligned
aligned:                                              ; same rows: both within one stride
  %low.is = icmp ult i64 %i.data, %o.data
  %low = select i1 %low.is, i64 %i.data, i64 %o.data
  %high.is = icmp ugt i64 %i.row.end, %o.row.end
  %high = select i1 %high.is, i64 %i.row.end, i64 %o.row.end
  %extent = sub i64 %high, %low
  %same.stride = icmp eq i64 %i.stride, %o.stride
  %fits.row = icmp ule i64 %extent, %o.step
  %harmless = and i1 %same.stride, %fits.row
  br i1 %harmless, label %input.next, label %reject
input.next:
  %i.next = add i64 %i, 1
  br label %input
output.next:
  %o.next = add i64 %o, 1
  br label %output

go:
  %w1 = sub i64 %width, 1
  %up = add i64 %robots, %w1
  %groups = udiv i64 %up, %width
  %long = icmp sgt i64 %groups, %most.held
  br i1 %long, label %released, label %held
held:                                                 ; a few microseconds: keep the interpreter's lock
  call void %run(ptr %data, ptr %strides, ptr %counts, i64 %robots, i64 0, i64 %groups)
  br label %done
released:
  %state = call ptr @PyEval_SaveThread()
  call void %run(ptr %data, ptr %strides, ptr %counts, i64 %robots, i64 0, i64 %groups)
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
done:
  %yes = call ptr @PyBool_FromLong(i64 1)
  ret ptr %yes
reject:
  %no = call ptr @PyBool_FromLong(i64 0)
  ret ptr %no
}
