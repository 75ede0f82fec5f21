/** Runs in the browser: inserts the HTML once by script, and once as written by the parser, which runs scripts. */
globalThis.tryOut = async (html) => {
  const ran = [];
  for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
    Object.defineProperty(window, name, { configurable: true, value: () => ran.push(`called ${name}`) });
  }
  const settle = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const seen = new Set();
  for (const way of ['put in', 'written']) {
    document.body.replaceChildren();
    const host = document.createElement('section');
    host.style.cssText = 'width:400px;height:300px;margin:50px;padding:0';
    document.body.append(host);
    if (way === 'put in') host.innerHTML = html;
    else {
      const other = document.implementation.createHTMLDocument('');
      other.write(html);
      host.append(...[...other.body.childNodes].map((node) => document.importNode(node, true)));
      const fragment = document.createRange().createContextualFragment(html);
      host.replaceChildren(fragment);
    }
    await settle();
    const [box, ...others] = host.childNodes;
    if (!(box instanceof HTMLDivElement) || others.length > 0) seen.add(`${way}: not one box`);
    const limits = host.getBoundingClientRect();
    for (const element of host.querySelectorAll('*')) {
      const tag = element.localName;
      if (
        /^(?:script|style|iframe|frame|object|embed|form|input|button|select|textarea|link|meta|base|svg|math|video|audio|source|template|noscript)$/.test(
          tag,
        )
      )
        seen.add(`${way}: has ${tag}`);
      for (const { name, value } of element.attributes) {
        if (
          /^on|^(?:srcdoc|srcset|action|formaction|ping|background|id|class|name|contenteditable|autofocus|usemap|is|slot)$/.test(
            name,
          )
        )
          seen.add(`${way}: has ${name}`);
        if (
          /^(?:href|src)$/.test(name) &&
          !/^(?:https?:|mailto:|tel:|data:image\/(?:png|jpe?g|gif|webp|bmp);base64,|\/api\/)/i.test(value)
        )
          seen.add(`${way}: leads to ${value.slice(0, 50)}`);
      }
      const style = getComputedStyle(element);
      if (style.position !== 'static') seen.add(`${way}: ${tag} is ${style.position}`);
      if (style.zIndex !== 'auto') seen.add(`${way}: ${tag} has a layer`);
      if (style.transform !== 'none' || style.animationName !== 'none') seen.add(`${way}: ${tag} moves`);
      for (const kind of [
        'mouseover',
        'focus',
        'pointerenter',
        'error',
        'load',
        'toggle',
        'scroll',
        'animationend',
      ])
        element.dispatchEvent(new Event(kind, { bubbles: true }));
    }
    // Everything beside the box belongs to the page.
    for (const [x, y] of [
      [5, 5],
      [limits.right + 20, limits.top + 20],
      [limits.left - 20, limits.top + 20],
      [limits.left + 20, limits.top - 20],
    ]) {
      const there = document.elementFromPoint(x, y);
      if (there !== null && there !== host && host.contains(there))
        seen.add(`${way}: covers the page at ${x},${y}`);
    }
    await settle();
  }
  return [...seen, ...ran];
};
