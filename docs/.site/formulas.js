// Renders the formulas that pymdownx.arithmatex leaves as \(...\) and \[...\].
for (const element of document.querySelectorAll(".arithmatex")) {
  const source = element.textContent.trim();
  const displayMode = source.startsWith("\\[");
  katex.render(source.slice(2, -2), element, { displayMode, fleqn: true, throwOnError: false });
}
