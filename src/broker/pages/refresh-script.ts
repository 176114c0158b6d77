// The one script of the pages, a file of our own because pages forbid inline scripts. It keeps a page that shows how things are
// now up to date: it asks for the page again with its entity tag, and exchanges only the parts of `main` that differ, so that
// focus, scroll positions and a selection stay. Every page works without it. It never makes HTML of anything but the page that
// the server sent, in which everything is escaped.
import { createHash } from 'node:crypto'

const content = `'use strict';
(() => {
  const main = document.querySelector('main[data-refresh]');
  const status = document.getElementById('live-status');
  if (!main || !status) return;
  const maxSeconds = 60;
  let tag, timer, lost, failures = 0, paused = false, asking = false;

  const say = text => { if (status.textContent !== text) status.textContent = text; };
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  const label = () => { button.textContent = paused ? 'Resume updates' : 'Pause updates'; };
  button.addEventListener('click', () => {
    paused = !paused;
    label();
    say(paused ? 'Updates are paused.' : '');
    if (paused) plan();
    else void refresh();
  });
  label();
  status.after(' ', button);

  const seconds = () => Number(main.dataset.refresh) || 0;

  const plan = () => {
    clearTimeout(timer);
    button.hidden = seconds() === 0;
    if (paused || document.hidden || seconds() === 0) return;
    timer = setTimeout(refresh, Math.min(maxSeconds, seconds() * 2 ** failures) * 1000);
  };

  const isSelecting = () => {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode);
  };

  const isAtEnd = element => element.scrollTop + element.clientHeight >= element.scrollHeight - 4;

  const positions = () => [...main.querySelectorAll('[data-scrolls]')]
    .map(({ id, scrollLeft, scrollTop }) => ({ id, scrollLeft, scrollTop, atEnd: isAtEnd(document.getElementById(id)) }));

  const folded = () => [...main.querySelectorAll('details[id]')].map(({ id, open }) => ({ id, open }));

  const restore = (kept, focus, folds) => {
    for (const { id, open } of folds) {
      const element = document.getElementById(id);
      if (element) element.open = open;
    }
    for (const { id, scrollLeft, scrollTop, atEnd } of kept) {
      const element = document.getElementById(id);
      if (!element) continue;
      element.scrollLeft = scrollLeft;
      element.scrollTop = atEnd && element.classList.contains('log') ? element.scrollHeight : scrollTop;
    }
    if (focus && document.activeElement !== focus.element) document.getElementById(focus.id)?.focus({ preventScroll: true });
  };

  const focused = () => {
    const element = document.activeElement;
    return element && element.id && main.contains(element) ? { id: element.id, element } : undefined;
  };

  const show = page => {
    const next = page.querySelector('main');
    if (!next) return location.reload();
    const kept = positions();
    const folds = folded();
    // A part that could not be read now comes back with the next answer: so does the focus, when it went nowhere else.
    const focus = focused() ?? (document.activeElement === document.body ? lost : undefined);
    const [before, after] = [[...main.children], [...next.children]];
    const alike = before.length === after.length && before.every((part, index) => part.tagName === after[index].tagName);
    if (!alike) main.replaceChildren(...next.childNodes);
    else before.forEach((part, index) => { if (!part.isEqualNode(after[index])) part.replaceWith(after[index]); });
    restore(kept, focus, folds);
    lost = focus && !document.getElementById(focus.id) ? focus : undefined;
    if (document.title !== page.title) document.title = page.title;
    const news = main.dataset.summary === next.dataset.summary ? undefined : next.dataset.summary;
    main.dataset.summary = next.dataset.summary ?? '';
    main.dataset.refresh = next.dataset.refresh ?? '';
    return news;
  };

  // What has changed, as a text, if anything has.
  const ask = async () => {
    const headers = { accept: 'text/html', ...(tag ? { 'if-none-match': tag } : {}) };
    const signal = AbortSignal.timeout(20000);
    const answer = await fetch(location.href, { headers, redirect: 'manual', cache: 'no-store', signal });
    if (answer.status === 304) return;
    // The session has ended, or the person may not see it any more: the browser shows what the server says.
    if (answer.type === 'opaqueredirect' || [401, 403, 404].includes(answer.status)) return location.reload();
    if (answer.status !== 200) throw new Error(String(answer.status));
    const text = await answer.text();
    // Somebody who copies something keeps it; the next answer is shown.
    if (paused || isSelecting()) return;
    const news = show(new DOMParser().parseFromString(text, 'text/html'));
    tag = answer.headers.get('etag') ?? undefined;
    return news;
  };

  const refresh = async () => {
    if (asking) return;
    asking = true;
    try {
      const news = await ask();
      const texts = [failures > 0 && 'Up to date again.', news].filter(Boolean);
      if (texts.length > 0) say(texts.join(' '));
      failures = 0;
    } catch {
      failures = Math.min(failures + 1, 6);
      say('This page could not be updated. It will be tried again.');
    } finally {
      asking = false;
      plan();
    }
  };

  for (const log of main.querySelectorAll('pre.log')) log.scrollTop = log.scrollHeight;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer);
    else if (!paused && seconds() > 0) void refresh();
  });
  plan();
})();
`

const hash = createHash('sha256').update(content)

/** Its path contains a hash of its content, so that it may be kept for ever; pages name its integrity as well. */
export const refreshScript = {
  content,
  path: `/refresh-${hash.copy().digest('hex').slice(0, 16)}.js`,
  /** https://www.w3.org/TR/SRI/ */
  integrity: `sha256-${hash.digest('base64')}`,
} as const
