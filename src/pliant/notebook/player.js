// Plays a log inside an element of any page: no server, no network, no frame, no library. WebGL 2 draws it.
// `about` describes the bytes in `packed` (base64 of deflate): see pliant/notebook/replay.py, which writes both.
(async function (id, about, packed) {
  const root = document.querySelector(`[id="${id}"]:not([data-started])`);
  if (!root || !window.WebGL2RenderingContext || !window.DecompressionStream) return;
  root.dataset.started = "1";
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(stream).arrayBuffer();
  const floats = ([start, count]) => new Float32Array(data, start, count);
  const poses = floats(about.poses), centers = floats(about.centers), forces = floats(about.forces);
  const last = about.frames - 1, count = about.robots * about.bodies;

  // ---- controls
  const make = (tag, more, parent) => parent.appendChild(Object.assign(document.createElement(tag), more));
  const stage = root.querySelector(".pliant-stage"), bar = make("div", { className: "pliant-bar" }, root);
  const canvas = make("canvas", { tabIndex: 0, title: "drag: turn, shift and drag: shift, wheel: zoom" }, stage);
  const play = make("button", { type: "button", title: "play or pause (space)" }, bar);
  const slider = make("input", { type: "range", min: 0, max: last, step: "any", value: 0, title: "time" }, bar);
  const clock = make("output", {}, bar);
  const rate = make("select", { title: "speed" }, bar);
  for (const x of about.speeds) make("option", { value: x, textContent: `${x}x`, selected: x === about.speed }, rate);
  const follow = make("input", { type: "checkbox", checked: about.follow }, make("label", { title: "follow" }, bar));
  follow.parentNode.append("follow");
  play.setAttribute("aria-label", "play or pause");
  slider.setAttribute("aria-label", "time");

  // ---- pictures
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, stencil: true, preserveDrawingBuffer: true });
  if (!gl) { canvas.remove(); bar.remove(); return; }
  const vertex = `#version 300 es
    layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
    uniform mat4 model, view; uniform vec3 low, size; out vec3 n, p;
    void main() { vec4 w = model * vec4(low + size * place, 1); n = mat3(model) * normal; p = w.xyz;
      gl_Position = view * w; }`;
  const fragment = `#version 300 es
    precision highp float; in vec3 n, p; out vec4 seen;
    uniform vec4 color; uniform vec3 eye, sun, middle; uniform float kind, tile, reach;
    void main() {
      if (kind > 1.5) { seen = color; return; }
      vec3 away = eye - p, N = normalize(n); if (dot(N, away) < 0.0) N = -N;
      float lit = max(dot(N, sun), 0.0), shine = pow(max(dot(N, normalize(sun + normalize(away))), 0.0), 40.0);
      vec3 light = mix(vec3(0.56, 0.56, 0.58), vec3(0.74, 0.74, 0.75), 0.5 + 0.5 * N.z) + 0.42 * lit;
      vec3 c = color.rgb;
      float a = color.a;
      if (kind > 0.5) {
        vec2 at = p.xy / tile, g = abs(fract(at - 0.5) - 0.5) / fwidth(at);
        c *= 1.0 - 0.16 * (1.0 - min(min(g.x, g.y), 1.0)) / (1.0 + 4.0 * max(fwidth(at.x), fwidth(at.y)));
        a = 1.0 - smoothstep(0.35 * reach, reach, length(p.xy - middle.xy));
      }
      seen = vec4(c * min(light, 1.12) + (kind > 0.5 ? 0.0 : 0.10 * shine), a);
    }`;
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
  }
  gl.linkProgram(program); gl.useProgram(program);
  const at = (name) => gl.getUniformLocation(program, name);
  const places = Object.fromEntries(
    ["model", "view", "low", "size", "color", "eye", "sun", "middle", "kind", "tile", "reach"].map((n) => [n, at(n)]));
  const load = (part) => {
    const vao = gl.createVertexArray(), points = gl.createBuffer(), faces = gl.createBuffer();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, points);
    gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(data, ...part.vertices), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 12, 0);
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 3, gl.BYTE, true, 12, 8);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, faces);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(data, ...part.faces), gl.STATIC_DRAW);
    return { ...part, vao };
  };
  const parts = about.parts.map(load), arrow = load(about.arrow), ground = load(about.ground);

  // ---- matrices, column by column
  const product = (a, b) => {
    const c = new Float32Array(16);
    for (let j = 0; j < 4; j++) for (let i = 0; i < 4; i++)
      c[4 * j + i] = a[i] * b[4 * j] + a[4 + i] * b[4 * j + 1] + a[8 + i] * b[4 * j + 2] + a[12 + i] * b[4 * j + 3];
    return c;
  };
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const r = Math.hypot(...a) || 1; return a.map((x) => x / r); };
  const sun = unit([0.35, -0.5, 1.0]);
  const shadow = [1, 0, 0, 0, 0, 1, 0, 0, -sun[0] / sun[2], -sun[1] / sun[2], 0, 0,
    about.floor * sun[0] / sun[2], about.floor * sun[1] / sun[2], about.floor + 0.002 * about.radius, 1];
  const still = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const pose = (k, part, share) => {  // between two frames: straight, and the shorter turn
    const a = 7 * (k * count + part), b = Math.min(k + 1, last) * 7 * count + 7 * part, x = new Float64Array(7);
    let same = 0;
    for (let i = 3; i < 7; i++) same += poses[a + i] * poses[b + i];
    for (let i = 0; i < 7; i++)
      x[i] = poses[a + i] + share * ((i > 2 && same < 0 ? -1 : 1) * poses[b + i] - poses[a + i]);
    const r = Math.hypot(x[3], x[4], x[5], x[6]) || 1, [i, j, l, w] = [x[3] / r, x[4] / r, x[5] / r, x[6] / r];
    return [1 - 2 * (j * j + l * l), 2 * (i * j + l * w), 2 * (i * l - j * w), 0,
      2 * (i * j - l * w), 1 - 2 * (i * i + l * l), 2 * (j * l + i * w), 0,
      2 * (i * l + j * w), 2 * (j * l - i * w), 1 - 2 * (i * i + j * j), 0, x[0], x[1], x[2], 1];
  };

  const look = { azimuth: about.azimuth, elevation: 0.24, distance: about.distance, shift: [0, 0, 0] };
  const half = 0.25;  // of the field of view [rad]
  function draw() {
    const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
    const height = Math.max(1, Math.round(canvas.clientHeight * devicePixelRatio));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const k = Math.min(Math.floor(frame), last), share = frame - k, next = Math.min(k + 1, last);
    const middle = [0, 1, 2].map((i) => (follow.checked
      ? centers[3 * k + i] + share * (centers[3 * next + i] - centers[3 * k + i]) : about.middle[i]) + look.shift[i]);
    const [c, s] = [Math.cos(look.elevation), Math.sin(look.elevation)];
    const back = [c * Math.cos(look.azimuth), c * Math.sin(look.azimuth), s];
    const far = look.distance * Math.max(1, height / width);
    const eye = middle.map((x, i) => x + far * back[i]), right = unit(cross([0, 0, 1], back)), up = cross(back, right);
    const dot = (a) => -(a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2]), f = 1 / Math.tan(half), n = far / 50;
    const turn = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      dot(right), dot(up), dot(back), 1];
    const lens = [f * height / width, 0, 0, 0, 0, f, 0, 0, 0, 0, -1, -1, 0, 0, -2 * n, 0];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.955, 0.962, 0.972, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniformMatrix4fv(places.view, false, product(lens, turn));
    gl.uniform3fv(places.eye, eye); gl.uniform3fv(places.sun, sun); gl.uniform3fv(places.middle, middle);
    gl.uniform1f(places.tile, about.tile); gl.uniform1f(places.reach, Math.max(14 * about.radius, 4 * far));
    const show = (part, model, color, kind) => {
      gl.uniformMatrix4fv(places.model, false, model);
      gl.uniform3fv(places.low, part.low); gl.uniform3fv(places.size, part.size);
      gl.uniform4fv(places.color, color); gl.uniform1f(places.kind, kind);
      gl.bindVertexArray(part.vao);
      gl.drawElements(gl.TRIANGLES, part.faces[1], gl.UNSIGNED_INT, 0);
    };
    // a flat ground goes along with the picture
    const under = about.flat ? [...still.slice(0, 12), middle[0], middle[1], about.floor, 1] : still;
    show(ground, under, [0.85, 0.855, 0.86, 1], 1);
    const models = [];
    for (let r = 0; r < about.robots; r++)
      for (const part of parts) models.push([part, pose(k, r * about.bodies + part.body, share)]);
    if (about.flat) {  // each pixel is darkened once
      gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      gl.depthMask(false);
      if (eye[2] > about.floor) for (const [part, X] of models) show(part, product(shadow, X), [0.1, 0.12, 0.16, 0.3], 2);
      gl.depthMask(true); gl.disable(gl.STENCIL_TEST);
    }
    models.sort((a, b) => b[0].color[3] - a[0].color[3]);  // what is opaque comes first
    for (const [part, X] of models) show(part, X, part.color, 0);
    const nearest = 6 * about.robots * about.contacts * Math.min(Math.round(frame), last);
    for (let i = 0; i < about.robots * about.contacts; i++) {
      const [x, y, z, fx, fy, fz] = forces.subarray(nearest + 6 * i, nearest + 6 * i + 6), length = Math.hypot(fx, fy, fz);
      if (!(length > 0.01 * about.radius)) continue;
      const w = unit([fx, fy, fz]), u = unit(cross(Math.abs(w[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], w)), v = cross(w, u);
      const m = 0.5 * about.radius;
      const X = [...u.map((e) => e * m), 0, ...v.map((e) => e * m), 0, ...w.map((e) => e * length), 0, x, y, z, 1];
      show(arrow, X, [0.91, 0.30, 0.12, 1], 0);
    }
  }

  // ---- time
  let frame = 0, playing = about.plays && last > 0, before = 0, asked = false, seen = true;
  function tell() {
    play.textContent = playing ? "\u275a\u275a" : "\u25b6";
    slider.value = frame;
    clock.textContent = `${(about.start + frame / about.fps).toFixed(2)} s`;
    root.dataset.time = about.start + frame / about.fps;
  }
  function tick(now) {
    asked = false;
    if (!root.isConnected) { gl.getExtension("WEBGL_lose_context")?.loseContext(); return; }
    const passed = Math.min((now - before) / 1000, 0.1);
    before = now;
    if (playing) { frame += passed * rate.value * about.fps; if (frame > last) frame = frame > last + 0.5 * about.fps ? 0 : frame; }
    const kept = frame;
    frame = Math.min(frame, last); tell(); draw(); frame = kept;  // a short pause at the end
    if (playing && seen) ask();
  }
  function ask() { if (!asked) { asked = true; requestAnimationFrame(tick); } }
  function toggle() { if (frame >= last) frame = 0; playing = !playing && last > 0; before = performance.now(); ask(); }
  play.onclick = toggle;
  slider.oninput = () => { playing = false; frame = +slider.value; ask(); };
  follow.onchange = ask;
  canvas.onkeydown = (e) => { if (e.key === " ") { e.preventDefault(); toggle(); } };
  // many replays in a page: those out of sight rest
  new IntersectionObserver((found) => { seen = found[found.length - 1].isIntersecting; if (seen) { before = performance.now(); ask(); } }).observe(canvas);
  new ResizeObserver(ask).observe(canvas);

  // ---- camera
  let held = null;
  canvas.onpointerdown = (e) => { held = [e.clientX, e.clientY, e.shiftKey || e.button > 0]; canvas.setPointerCapture(e.pointerId); canvas.focus(); };
  canvas.onpointerup = () => { held = null; };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.onpointermove = (e) => {
    if (!held) return;
    const dx = e.clientX - held[0], dy = e.clientY - held[1], step = 2 * Math.tan(half) * look.distance / canvas.clientHeight;
    held = [e.clientX, e.clientY, held[2]];
    if (held[2]) {
      const [c, s] = [Math.cos(look.azimuth), Math.sin(look.azimuth)];
      look.shift = look.shift.map((x, i) => x + step * [s * dx, -c * dx, dy][i]);
    } else {
      look.azimuth -= 0.008 * dx;
      look.elevation = Math.min(1.55, Math.max(-0.3, look.elevation + 0.008 * dy));
    }
    ask();
  };
  // the wheel scrolls the page unless the picture has been clicked
  canvas.addEventListener("wheel", (e) => {
    if (document.activeElement !== canvas && !e.ctrlKey) return;
    e.preventDefault(); look.distance *= Math.exp(0.001 * e.deltaY); ask();
  }, { passive: false });
  canvas.onpointerleave = () => canvas.blur();
  root.querySelector(".pliant-poster")?.remove();
  ask();
})
