// Which text may be passed to git as the name of a commit, and in which order a short name is looked up.
// Rules of a ref name: git-check-ref-format(1).

/** GitHub keeps branches of several hundred characters. */
const maxRevision = 1000

/** Whether the text is a plain ref name or commit id: not an option, a range, or an `@{}` or `~^:` expression. */
export function isSafeRevision(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= maxRevision &&
    !/^[-./]|[/.]$|\.\.|@\{|\/\/|\.lock$/.test(text) &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must be refused
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(text)
  )
}

/** The full names to try for a short name: a branch comes before a tag, and both before a commit id. */
export function refCandidates(text: string): readonly string[] {
  if (text.startsWith('refs/')) return [text]
  const named = [`refs/heads/${text}`, `refs/tags/${text}`]
  if (/^(?:heads|tags|pull)\//.test(text)) named.push(`refs/${text}`)
  return /^[0-9a-f]{7,40}$/i.test(text) ? [...named, text.toLowerCase()] : named
}
