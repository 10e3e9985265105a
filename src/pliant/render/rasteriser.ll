; Triangles to pixels with a depth buffer. Corners are (x, y, n): place on the screen in pixels, and nearness.
;
; With corners 0, 1, 2 and a the doubled area, the weights of a point are the shares of a opposite the corners,
;     w_1 = ((x - x_0) (y_2 - y_0) - (x_2 - x_0) (y - y_0)) / a
;     w_2 = ((x_1 - x_0) (y - y_0) - (x - x_0) (y_1 - y_0)) / a
; and w_0 = 1 - w_1 - w_2. They and the nearness are linear, so along a row they grow by a constant. Four pixels of a
; row are done at once; those past its end keep what they have, so that the buffers need room for three more.

declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.ceil.f64(double)
declare i1 @llvm.vector.reduce.or.v4i1(<4 x i1>)

define void @rasterize(ptr noalias %corners, ptr noalias %nearness, ptr noalias %found, i64 %count, i64 %w, i64 %h) {
entry:
  %width = sitofp i64 %w to double
  %height = sitofp i64 %h to double
  br label %triangle

triangle:
  %k = phi i64 [0, %entry], [%k_next, %done]
  %k32 = trunc i64 %k to i32
  %at = mul i64 %k, 9
  %p0 = getelementptr double, ptr %corners, i64 %at
  %p1 = getelementptr double, ptr %p0, i64 1
  %p2 = getelementptr double, ptr %p0, i64 2
  %p3 = getelementptr double, ptr %p0, i64 3
  %p4 = getelementptr double, ptr %p0, i64 4
  %p5 = getelementptr double, ptr %p0, i64 5
  %p6 = getelementptr double, ptr %p0, i64 6
  %p7 = getelementptr double, ptr %p0, i64 7
  %p8 = getelementptr double, ptr %p0, i64 8
  %x0 = load double, ptr %p0
  %y0 = load double, ptr %p1
  %n0 = load double, ptr %p2
  %x1 = load double, ptr %p3
  %y1 = load double, ptr %p4
  %n1 = load double, ptr %p5
  %x2 = load double, ptr %p6
  %y2 = load double, ptr %p7
  %n2 = load double, ptr %p8
  %x10 = fsub double %x1, %x0
  %y10 = fsub double %y1, %y0
  %n10 = fsub double %n1, %n0
  %x20 = fsub double %x2, %x0
  %y20 = fsub double %y2, %y0
  %n20 = fsub double %n2, %n0
  %a_first = fmul double %x10, %y20
  %a_second = fmul double %x20, %y10
  %a = fsub double %a_first, %a_second
  %is_thin = fcmp oeq double %a, 0.0
  br i1 %is_thin, label %done, label %bounds

bounds:
  %per_a = fdiv double 1.0, %a
  %x_min_a = call double @llvm.minnum.f64(double %x0, double %x1)
  %x_min_b = call double @llvm.minnum.f64(double %x_min_a, double %x2)
  %x_max_a = call double @llvm.maxnum.f64(double %x0, double %x1)
  %x_max_b = call double @llvm.maxnum.f64(double %x_max_a, double %x2)
  %y_min_a = call double @llvm.minnum.f64(double %y0, double %y1)
  %y_min_b = call double @llvm.minnum.f64(double %y_min_a, double %y2)
  %y_max_a = call double @llvm.maxnum.f64(double %y0, double %y1)
  %y_max_b = call double @llvm.maxnum.f64(double %y_max_a, double %y2)
  %x_min_c = call double @llvm.maxnum.f64(double %x_min_b, double 0.5)
  %y_min_c = call double @llvm.maxnum.f64(double %y_min_b, double 0.5)
  %x_max_c = call double @llvm.minnum.f64(double %x_max_b, double %width)
  %y_max_c = call double @llvm.minnum.f64(double %y_max_b, double %height)
  %x_min_d = fsub double %x_min_c, 0.5
  %y_min_d = fsub double %y_min_c, 0.5
  %x_max_d = fadd double %x_max_c, 0.5
  %y_max_d = fadd double %y_max_c, 0.5
  %x_min_e = call double @llvm.ceil.f64(double %x_min_d)
  %y_min_e = call double @llvm.ceil.f64(double %y_min_d)
  %i_first = fptosi double %x_min_e to i64
  %j_first = fptosi double %y_min_e to i64
  %i_last_a = fptosi double %x_max_d to i64
  %j_last_a = fptosi double %y_max_d to i64
  %i_small = icmp slt i64 %i_last_a, %w
  %i_end = select i1 %i_small, i64 %i_last_a, i64 %w
  %j_small = icmp slt i64 %j_last_a, %h
  %j_end = select i1 %j_small, i64 %j_last_a, i64 %h
  %some_rows = icmp slt i64 %j_first, %j_end
  %some_columns = icmp slt i64 %i_first, %i_end
  %some = and i1 %some_rows, %some_columns
  br i1 %some, label %setup, label %done

setup:
  %w1_x = fmul double %y20, %per_a
  %w2_x_plus = fmul double %y10, %per_a
  %w2_x = fneg double %w2_x_plus
  %i_double = sitofp i64 %i_first to double
  %x_center = fadd double %i_double, 0.5
  %dx = fsub double %x_center, %x0
  %n_x_a = fmul double %w1_x, %n10
  %n_x_b = fmul double %w2_x, %n20
  %n_x = fadd double %n_x_a, %n_x_b
  %dx_y20 = fmul double %dx, %y20
  %dx_y10 = fmul double %dx, %y10
  ; growth from pixel to pixel, and from four to the next four
  %w1_x_one = insertelement <4 x double> poison, double %w1_x, i32 0
  %w1_x_all = shufflevector <4 x double> %w1_x_one, <4 x double> poison, <4 x i32> zeroinitializer
  %w1_lanes = fmul <4 x double> %w1_x_all, <double 0.0, double 1.0, double 2.0, double 3.0>
  %w1_step = fmul <4 x double> %w1_x_all, splat (double 4.0)
  %w2_x_one = insertelement <4 x double> poison, double %w2_x, i32 0
  %w2_x_all = shufflevector <4 x double> %w2_x_one, <4 x double> poison, <4 x i32> zeroinitializer
  %w2_lanes = fmul <4 x double> %w2_x_all, <double 0.0, double 1.0, double 2.0, double 3.0>
  %w2_step = fmul <4 x double> %w2_x_all, splat (double 4.0)
  %n_x_one = insertelement <4 x double> poison, double %n_x, i32 0
  %n_x_all = shufflevector <4 x double> %n_x_one, <4 x double> poison, <4 x i32> zeroinitializer
  %n_lanes = fmul <4 x double> %n_x_all, <double 0.0, double 1.0, double 2.0, double 3.0>
  %n_step = fmul <4 x double> %n_x_all, splat (double 4.0)
  %columns = sub i64 %i_end, %i_first
  %columns_double = sitofp i64 %columns to double
  %columns_one = insertelement <4 x double> poison, double %columns_double, i32 0
  %columns_all = shufflevector <4 x double> %columns_one, <4 x double> poison, <4 x i32> zeroinitializer
  %k_one = insertelement <4 x i32> poison, i32 %k32, i32 0
  %k_all = shufflevector <4 x i32> %k_one, <4 x i32> poison, <4 x i32> zeroinitializer
  br label %row

row:
  %j = phi i64 [%j_first, %setup], [%j_next, %row_done]
  %j_double = sitofp i64 %j to double
  %y_center = fadd double %j_double, 0.5
  %dy = fsub double %y_center, %y0
  %x20_dy = fmul double %x20, %dy
  %x10_dy = fmul double %x10, %dy
  %w1_a = fsub double %dx_y20, %x20_dy
  %w2_a = fsub double %x10_dy, %dx_y10
  %w1_left = fmul double %w1_a, %per_a
  %w2_left = fmul double %w2_a, %per_a
  %n_a = fmul double %w1_left, %n10
  %n_b = fmul double %w2_left, %n20
  %n_c = fadd double %n0, %n_a
  %n_left = fadd double %n_c, %n_b
  %w1_one = insertelement <4 x double> poison, double %w1_left, i32 0
  %w1_all = shufflevector <4 x double> %w1_one, <4 x double> poison, <4 x i32> zeroinitializer
  %w1_start = fadd <4 x double> %w1_all, %w1_lanes
  %w2_one = insertelement <4 x double> poison, double %w2_left, i32 0
  %w2_all = shufflevector <4 x double> %w2_one, <4 x double> poison, <4 x i32> zeroinitializer
  %w2_start = fadd <4 x double> %w2_all, %w2_lanes
  %n_one = insertelement <4 x double> poison, double %n_left, i32 0
  %n_all = shufflevector <4 x double> %n_one, <4 x double> poison, <4 x i32> zeroinitializer
  %n_start = fadd <4 x double> %n_all, %n_lanes
  %row_at = mul i64 %j, %w
  br label %pixels

pixels:
  %i = phi i64 [%i_first, %row], [%i_next, %next]
  %column = phi <4 x double> [<double 0.0, double 1.0, double 2.0, double 3.0>, %row], [%column_next, %next]
  %w1 = phi <4 x double> [%w1_start, %row], [%w1_next, %next]
  %w2 = phi <4 x double> [%w2_start, %row], [%w2_next, %next]
  %n = phi <4 x double> [%n_start, %row], [%n_next, %next]
  %sum = fadd <4 x double> %w1, %w2
  %in_1 = fcmp oge <4 x double> %w1, zeroinitializer
  %in_2 = fcmp oge <4 x double> %w2, zeroinitializer
  %in_0 = fcmp ole <4 x double> %sum, splat (double 1.0)
  %in_row = fcmp olt <4 x double> %column, %columns_all
  %in_12 = and <4 x i1> %in_1, %in_2
  %in_012 = and <4 x i1> %in_12, %in_0
  %in = and <4 x i1> %in_012, %in_row
  %any = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %in)
  br i1 %any, label %inside, label %next

inside:
  %place = add i64 %row_at, %i
  %near_at = getelementptr double, ptr %nearness, i64 %place
  %found_at = getelementptr i32, ptr %found, i64 %place
  %best = load <4 x double>, ptr %near_at, align 8
  %owner = load <4 x i32>, ptr %found_at, align 4
  %is_nearer = fcmp ogt <4 x double> %n, %best
  %is_taken = and <4 x i1> %in, %is_nearer
  %better = select <4 x i1> %is_taken, <4 x double> %n, <4 x double> %best
  %owner_next = select <4 x i1> %is_taken, <4 x i32> %k_all, <4 x i32> %owner
  store <4 x double> %better, ptr %near_at, align 8
  store <4 x i32> %owner_next, ptr %found_at, align 4
  br label %next

next:
  %i_next = add i64 %i, 4
  %column_next = fadd <4 x double> %column, splat (double 4.0)
  %w1_next = fadd <4 x double> %w1, %w1_step
  %w2_next = fadd <4 x double> %w2, %w2_step
  %n_next = fadd <4 x double> %n, %n_step
  %more_columns = icmp slt i64 %i_next, %i_end
  br i1 %more_columns, label %pixels, label %row_done

row_done:
  %j_next = add i64 %j, 1
  %more_rows = icmp slt i64 %j_next, %j_end
  br i1 %more_rows, label %row, label %done

done:
  %k_next = add i64 %k, 1
  %more = icmp slt i64 %k_next, %count
  br i1 %more, label %triangle, label %end

end:
  ret void
}
