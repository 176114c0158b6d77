// Owns: which text may be handed to git as the name of a commit, and in which order a short name is looked up. Pure.
// Rules of a ref name: git-check-ref-format(1).

/** Whether the text is a plain ref name or commit id: no option, no range, no `@{}` or `~^:` expression. */
export function isSafeRevision(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= 255 &&
    !/^[-./]|[/.]$|\.\.|@\{|\/\/|\.lock$/.test(text) &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be kept out
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(text)
  )
}

/** Full names to try for what a caller wrote: a branch wins over a tag, and both over a commit id. */
export function refCandidates(text: string): readonly string[] {
  if (text.startsWith('refs/')) return [text]
  const named = [`refs/heads/${text}`, `refs/tags/${text}`]
  if (/^(?:heads|tags|pull)\//.test(text)) named.push(`refs/${text}`)
  return /^[0-9a-f]{7,40}$/i.test(text) ? [...named, text.toLowerCase()] : named
}
