import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json/canonical-json.ts'
import { type ChainHead, type ChainLink, createChainVerifier, emptyHead, entryHash } from './hash-chain.ts'

type Entry = ChainLink & { readonly reason: string; readonly details: JsonValue }

function chain(reasons: readonly string[]): Entry[] {
  let last: ChainHead = emptyHead
  return reasons.map((reason, index) => {
    const content = { sequence: index + 1, previousHash: last.hash, reason, details: { index } }
    const entry = { ...content, hash: entryHash(content) }
    last = entry
    return entry
  })
}

function verdict(entries: readonly Entry[], checkpoint?: ChainHead) {
  const verifier = createChainVerifier(checkpoint === undefined ? [] : [checkpoint])
  for (let start = 0; start < entries.length; start += 3) verifier.add(entries.slice(start, start + 3))
  return verifier.result()
}

/**
 * An attacker's change of a log with at least two entries. Only a checkpoint reveals a log whose hashes were all computed
 * again.
 */
const tampering = fc.oneof(
  fc.record({ kind: fc.constant('edit' as const), at: fc.nat(), text: fc.string() }),
  fc.record({ kind: fc.constant('edit with its own hash' as const), at: fc.nat(), text: fc.string() }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(), text: fc.constant('') }),
  fc.record({ kind: fc.constant('swap' as const), at: fc.nat(), text: fc.constant('') }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), text: fc.constant('') }),
)
type Tampering = typeof tampering extends fc.Arbitrary<infer T> ? T : never

function tampered(entries: readonly Entry[], { kind, at, text }: Tampering): Entry[] {
  const result = [...entries]
  // Never the last entry: only a checkpoint reveals its removal or replacement.
  const index = at % (entries.length - 1)
  const entry = result[index]
  const next = result[index + 1]
  if (!entry || !next) return result
  const edited = { ...entry, reason: `${entry.reason}+${text}` }
  if (kind === 'edit') result[index] = edited
  if (kind === 'edit with its own hash') result[index] = { ...edited, hash: entryHash(edited) }
  if (kind === 'delete') result.splice(index, 1)
  if (kind === 'swap') result.splice(index, 2, next, entry)
  if (kind === 'repeat') result.splice(index, 0, entry)
  return result
}

describe('the hash chain', () => {
  const reasons = fc.array(fc.string(), { minLength: 2, maxLength: 12 })

  test('verifies what was written, in batches of any size', () => {
    fc.assert(
      fc.property(reasons, texts => {
        const entries = chain(texts)
        expect(verdict(entries)).toMatchObject({ ok: true, entries: entries.length, head: { hash: entries.at(-1)?.hash } })
      }),
    )
  })

  test('breaks at every change of anything but the last entry', () => {
    fc.assert(fc.property(reasons, tampering, (texts, change) => !verdict(tampered(chain(texts), change)).ok))
  })

  test('finds a truncated end and a recomputed chain by any earlier checkpoint', () => {
    fc.assert(
      fc.property(reasons, fc.nat(), fc.nat(), (texts, cutAt, takenAt) => {
        const entries = chain(texts)
        const checkpoint = entries[takenAt % entries.length] ?? emptyHead
        const kept = cutAt % entries.length
        expect(verdict(entries, checkpoint).ok).toBe(true)
        expect(verdict(entries.slice(0, kept), checkpoint).ok).toBe(kept >= checkpoint.sequence)
        const forged = chain(['forged', ...texts.slice(1)])
        expect(verdict(forged, checkpoint).ok).toBe(texts[0] === 'forged')
      }),
    )
  })

  test('does not trust content that has no canonical form', () => {
    const [entry] = chain(['a'])
    if (!entry) throw new Error('one entry')
    expect(verdict([{ ...entry, details: 0.5 }])).toMatchObject({ ok: false, sequence: 1 })
  })
})
