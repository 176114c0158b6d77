// Whether a bundler named a file by its content, so that another content has another name and the file may be kept for ever
// (RFC 8246). What a person named is not: a wrong answer cannot be taken back from browsers, a missing one costs a short request.

/** Where bundlers write nothing else: the name may be the hash alone. */
const bundlerFolder = /^(?:_next\/static|_nuxt|_app\/immutable)\//
/** `name-hash.js`, `name.hash.js`, `name-hash.module.css`, `name.hash.chunk.js.map`. */
const withSeparator = /[.-]([\w-]+?)(?:\.[a-z]\w*){1,3}$/
const wholeName = /^([\w-]+?)(?:\.[a-z]\w*){1,3}$/
const exactlyEight = /[.-]([\w-]{8})(?:\.[a-z]\w*){1,3}$/
const uuid = /[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const page = /\.html?$/i
/** Bundlers name these; other files often have the names that people gave them. */
const code = /\.(?:m?js|css|wasm|map)$/

/** `path` in the site, without a leading slash. */
export function isNamedByContent(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (page.test(name) || uuid.test(name)) return false
  const patterns = [withSeparator, exactlyEight, ...(bundlerFolder.test(path) ? [wholeName] : [])]
  return patterns.some(pattern => {
    const part = pattern.exec(name)?.[1]
    return part !== undefined && looksRandom(part, code.test(name))
  })
}

/**
 * Digests in hexadecimal of 8 characters or more (webpack, Parcel), eight characters of base64url (Vite, Rollup) or of base32
 * (esbuild, Angular), and longer ones. Words, numbers, dates and versions have few changes between letters, cases and digits.
 */
function looksRandom(part: string, isCode: boolean): boolean {
  if (/^(?:19|20)\d{6}/.test(part)) return false
  const changes = pieces(part)
  if (/^[0-9a-f]{8,64}$/.test(part)) return changes >= (part.length === 8 ? 3 : 4)
  if (/^[A-Z2-7]{8}$/.test(part)) return isCode || changes >= 4
  if (part.length === 8) return changes >= (isCode ? 4 : 5)
  return /^[A-Za-z0-9_]{10,64}$/.test(part) && changes >= part.length / 2
}

/** The number of words, runs of capitals, and numbers. */
function pieces(part: string): number {
  return part.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[_-]/g)?.length ?? 0
}
