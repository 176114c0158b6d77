// Searches all answers to attackers for two things that they must never see: the canaries, which are in a Secret of the
// platform and in an AppSecret of acme, and tokens of GitHub. It remembers where one was seen, never what.

export type Sighting = { readonly place: string; readonly what: 'canary' | 'token' }

export type Watcher = {
  readonly see: (place: string, text: string) => void
  /** The value of a further canary, once it exists. It is looked for in all its usual encodings. */
  readonly watchFor: (canary: string) => void
  readonly sightings: () => readonly Sighting[]
  /** Texts and characters that were looked at. */
  readonly counts: () => { readonly texts: number; readonly characters: number }
}

/**
 * GitHub's tokens: a prefix, then at least 30 characters
 * (https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/).
 */
const tokenPattern = /\bgh[oprsu]_[A-Za-z0-9_.-]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}/

/** The text with each token replaced: for an answer that must have one. */
export function withoutTokens(text: string): string {
  return text.replaceAll(new RegExp(tokenPattern, 'g'), 'its own token')
}

export function createWatcher(): Watcher {
  const found = new Map<string, Sighting>()
  let canaries: readonly string[] = []
  let [texts, characters] = [0, 0]
  const note = (place: string, what: Sighting['what']): void => void found.set(`${place} ${what}`, { place, what })
  return {
    see(place, text) {
      texts += 1
      characters += text.length
      if (canaries.some(canary => text.includes(canary))) note(place, 'canary')
      if (tokenPattern.test(text)) note(place, 'token')
    },
    watchFor(canary) {
      canaries = [...canaries, ...encodings(canary)]
    },
    sightings: () => [...found.values()],
    counts: () => ({ texts, characters }),
  }
}

/** As it is, in hexadecimal, and in base64 at each of the three offsets that surrounding text can give it. */
function encodings(text: string): readonly string[] {
  const base64 = [0, 1, 2].map(offset => {
    const encoded = Buffer.from('\0'.repeat(offset) + text)
      .toString('base64')
      .replace(/=+$/, '')
    // The first and the last characters depend on the neighbours.
    return encoded.slice(offset === 0 ? 0 : 4, -4)
  })
  return [text, Buffer.from(text).toString('hex'), ...base64]
}
