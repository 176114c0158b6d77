// The list of refs of a push, which refs may be pushed, and what is reported of them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flushPacket, packetBytes, packetLine } from '../../packet-lines.ts'
import { beginsPack, commandList, createCommandReader, hasPack, maxRefs, type PushCommands } from './commands.ts'
import { refProblem, refProblemUnder } from './ref-rules.ts'
import { createReportReader, refusalReport } from './report.ts'

const zero = '0'.repeat(40)
const one = '1'.repeat(40)
const asked = '\0 report-status side-band-64k agent=git/2.39.5'

function listOf(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.map(packetLine).join('')}${flushPacket}`)
}

function read(bytes: Buffer, size = bytes.length) {
  const reader = createCommandReader()
  for (let at = 0; at < bytes.length; at += size) {
    const found = reader.add(bytes.subarray(at, at + size))
    if (found !== undefined) return { ...found, left: bytes.subarray(at + size) }
  }
  throw new Error('the list has no end')
}

describe('the list of refs', () => {
  test('is read in whatever pieces it comes, and what follows it is left', () => {
    const bytes = Buffer.concat([
      listOf(`${zero} ${one} refs/heads/a${asked}`, `${one} ${zero} refs/tags/b\n`),
      Buffer.from('PACK rest'),
    ])
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const { commands, rest, left } = read(bytes, size)
      expect(commands).toEqual({
        updates: [
          { ref: 'refs/heads/a', from: zero, to: one },
          { ref: 'refs/tags/b', from: one, to: zero },
        ],
        shallow: [],
        capabilities: ['report-status', 'side-band-64k'],
      })
      expect(Buffer.concat([rest, left]).toString()).toBe('PACK rest')
    }
  })

  test('is written again from what was understood, and reads the same', () => {
    const hex = (length: number) =>
      fc.array(fc.constantFrom(...'123456789abcdef'), { minLength: length, maxLength: length }).map(digits => digits.join(''))
    const updates = fc
      .uniqueArray(fc.stringMatching(/^[a-zA-Z0-9é~_./-]{1,60}$/), { minLength: 1, maxLength: 20 })
      .chain(names =>
        fc.tuple(...names.map(name => fc.record({ ref: fc.constant(`refs/heads/${name}`), from: hex(40), to: hex(40) }))),
      )
    fc.assert(
      fc.property(updates, fc.array(hex(40), { maxLength: 5 }), (given, shallow) => {
        const commands: PushCommands = { updates: given, shallow, capabilities: ['report-status', 'atomic'] }
        expect(read(commandList(commands)).commands).toEqual(commands)
      }),
    )
  })

  test('says nothing of the client and passes nothing that it did not understand', () => {
    const text = commandList(read(listOf(`${zero} ${one} refs/heads/a${asked} session-id=x`)).commands).toString()
    expect(text).toContain('agent=sekisho-git-proxy')
    expect(text).not.toMatch(/git\/2|session-id/)
  })

  const first = `${zero} ${one} refs/heads/a${asked}`
  test.each<readonly [string, readonly string[], string]>([
    ['a line without ids', [`refs/heads/a${asked}`], 'cannot be read'],
    ['ids in upper case', [`${zero} ${'A'.repeat(40)} refs/heads/a${asked}`], 'cannot be read'],
    ['ids of two formats', [first, `${zero} ${'2'.repeat(64)} refs/heads/b`], 'different object formats'],
    [
      'ids of another format than was asked for',
      [`${'0'.repeat(64)} ${'2'.repeat(64)} refs/heads/a${asked}`],
      'different object formats',
    ],
    ['a ref twice', [first, `${one} ${zero} refs/heads/a`], 'named twice'],
    ['a change of nothing', [`${zero} ${zero} refs/heads/a${asked}`], 'changes nothing'],
    ['capabilities in a later line', [first, `${zero} ${one} refs/heads/b\0atomic`], 'not of git’s protocol'],
    ['push options', [`${first} push-options`], 'push options'],
    ['a signed push', [`push-cert${asked}`], 'signed pushes'],
    ['a capability that is not known', [`${first} allow-everything`], 'does not pass on'],
    ['no report', [`${zero} ${one} refs/heads/a\0 side-band-64k`], 'report-status'],
    ['no capabilities', [`${zero} ${one} refs/heads/a`], 'report-status'],
    ['shallow lines alone', [`shallow ${one}`], 'not of git’s protocol'],
    ['shallow after a ref', [first, `shallow ${one}`], 'cannot be read'],
    ['a long line', [`${zero} ${one} refs/heads/${'a'.repeat(1000)}${asked}`], 'longer than 1024 bytes'],
  ])('with %s is refused', (_case, lines, message) => {
    expect(() => read(listOf(...lines))).toThrow(message)
  })

  test('of a name that is not UTF-8 is refused', () => {
    const line = Buffer.concat([Buffer.from(`${zero} ${one} refs/heads/`), Buffer.of(0xff, 0xfe), Buffer.from(asked)])
    expect(() => read(Buffer.concat([packetBytes(line), Buffer.from(flushPacket)]))).toThrow('UTF-8')
  })

  test('with a delimiter is refused', () => {
    expect(() => read(Buffer.concat([Buffer.from(packetLine(first)), Buffer.from('0001')]))).toThrow('not of git’s protocol')
  })

  test(`has at most ${maxRefs} refs; of 100,000 no more is held than that`, () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_none, at) => `${zero} ${one} refs/heads/${at}${at === 0 ? asked : ''}`)
    expect(read(listOf(...lines(maxRefs))).commands.updates).toHaveLength(maxRefs)
    expect(() => read(listOf(...lines(maxRefs + 1)))).toThrow('more than 100 refs')
    const reader = createCommandReader()
    let taken = 0
    expect(() => {
      for (const line of lines(100_000)) {
        reader.add(Buffer.from(packetLine(line)))
        taken += 1
      }
    }).toThrow('more than 100 refs')
    expect(taken).toBeLessThan(1200)
  })

  test('that is empty is the question before a large push', () => {
    expect(read(Buffer.from(flushPacket)).commands.updates).toEqual([])
  })
})

describe('the pack', () => {
  test('is expected unless all refs are deleted', () => {
    expect(hasPack({ updates: [{ ref: 'a', from: one, to: zero }] })).toBe(false)
    expect(
      hasPack({
        updates: [
          { ref: 'a', from: one, to: zero },
          { ref: 'b', from: zero, to: one },
        ],
      }),
    ).toBe(true)
  })

  test.each<readonly [string, string, boolean | undefined]>([
    ['', 'nothing yet', undefined],
    ['50', 'its first byte', undefined],
    ['5041434b00', 'not its whole head', undefined],
    ['5041434b00000002', 'version 2', true],
    ['5041434b00000003', 'version 3', true],
    ['5041434b00000009', 'another version', false],
    ['30303936', 'a second list', false],
    ['504b', 'something else', false],
  ])('begins with %s (%s): %s', (hex, _what, wanted) => {
    expect(beginsPack(Buffer.from(hex, 'hex'))).toBe(wanted)
  })
})

describe('refs', () => {
  test.each(['refs/heads/main', 'refs/heads/feature/a.b', 'refs/tags/v1.0', 'refs/heads/日本', 'refs/heads/@', 'refs/heads/a@b'])(
    '%s may be pushed',
    ref => expect(refProblem(ref)).toBeUndefined(),
  )

  test.each([
    ...['refs/pull/1/head', 'refs/notes/commits', 'refs/meta/config', 'HEAD', 'refs/heads', 'refs/headsx', 'REFS/HEADS/main', ''],
    ...['refs/heads/', 'refs/heads/a..b', 'refs/heads/../tags/x', 'refs/heads/.a', 'refs/heads/a/.b', 'refs/heads/a.lock/b'],
    ...[
      'refs/heads/a.lock',
      'refs/heads/a.',
      'refs/heads//a',
      'refs/heads/a/',
      'refs/heads/a b',
      'refs/heads/a~b',
      'refs/heads/a^b',
    ],
    ...[
      'refs/heads/a:b',
      'refs/heads/a?b',
      'refs/heads/a*b',
      'refs/heads/a[b',
      'refs/heads/a\\b',
      'refs/heads/a@{b',
      'refs/heads/-a',
    ],
    ...[
      'refs/heads/a\u0000b',
      'refs/heads/a\nb',
      'refs/heads/a\u007fb',
      `refs/heads/${'a'.repeat(256)}`,
      `refs/heads/${'日'.repeat(86)}`,
    ],
  ])('%j may not', ref => expect(refProblem(ref)).toBeTypeOf('string'))
})

describe('the report', () => {
  const commands: PushCommands = {
    updates: [
      { ref: 'refs/heads/a', from: zero, to: one },
      { ref: 'refs/heads/b', from: zero, to: one },
    ],
    shallow: [],
    capabilities: ['report-status', 'side-band-64k'],
  }
  const plain = { ...commands, capabilities: ['report-status'] }
  const report = listOf('unpack ok\n', 'ok refs/heads/a\n', 'ng refs/heads/b protected branch hook declined\n')
  const band = (channel: number, bytes: Buffer) => packetBytes(Buffer.concat([Buffer.of(channel), bytes]))
  const multiplexed = Buffer.concat([
    band(2, Buffer.from('Resolving deltas\n')),
    band(1, report.subarray(0, 9)),
    band(2, Buffer.from('more\n')),
    band(1, report.subarray(9)),
    Buffer.from(flushPacket),
  ])

  test.each<readonly [string, PushCommands, Buffer]>([
    ['multiplexed', commands, multiplexed],
    ['plain', plain, report],
  ])('is read when it is %s, in whatever pieces', (_how, given, bytes) => {
    for (const size of [1, 5, bytes.length]) {
      const reader = createReportReader(given)
      for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size))
      expect(reader.resultOf('refs/heads/a').result).toBe('ok')
      expect(reader.resultOf('refs/heads/b')).toEqual({ result: 'refused', reason: 'protected branch hook declined' })
      expect(reader.resultOf('refs/heads/c').result).toBe('unknown')
    }
  })

  test('of a pack that cannot be used takes no ref', () => {
    const reader = createReportReader(plain)
    reader.add(listOf('unpack index-pack abnormal exit\n', 'ok refs/heads/a\n'))
    expect(reader.resultOf('refs/heads/a')).toEqual({ result: 'refused', reason: 'unpack: index-pack abnormal exit' })
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['what is not of the protocol', Buffer.from('<html>no</html>')],
    [
      'more than a report can be',
      Buffer.concat(Array.from({ length: 6 }, () => band(1, Buffer.from(packetLine('x'.repeat(60_000)))))),
    ],
  ])('of %s has no result, and reading it does not fail', (_case, bytes) => {
    const reader = createReportReader(commands)
    reader.add(bytes)
    reader.add(Buffer.from(packetLine('\u0001unpack ok\n')))
    expect(reader.resultOf('refs/heads/a').result).toBe('unknown')
  })

  test('of the proxy says the same as git would', () => {
    for (const given of [commands, plain]) {
      const reader = createReportReader(given)
      reader.add(refusalReport(given, ref => `${ref} is refused`))
      expect(reader.resultOf('refs/heads/b')).toEqual({ result: 'refused', reason: 'refs/heads/b is refused' })
    }
  })
})

describe('the refs of a grant', () => {
  const problem = refProblemUnder(['refs/heads/release/*', 'refs/tags/v*', 'refs/heads/main'])
  test.each(['refs/heads/release/1.0', 'refs/heads/release/1/2', 'refs/tags/v2', 'refs/heads/main'])('%s may be changed', ref =>
    expect(problem(ref)).toBeUndefined(),
  )

  test.each([
    ['refs/heads/mainline', 'spec.git.refs has refs/heads/release/*, refs/tags/v*, refs/heads/main'],
    ['refs/heads/Main', 'spec.git.refs'],
    ['refs/heads/xrelease/1', 'spec.git.refs'],
    ['refs/tags/1', 'spec.git.refs'],
    ['refs/pull/1/head', 'only branches'],
    ['refs/heads/release/..', 'not one that git accepts'],
    ['refs/heads/release/*', 'not one that git accepts'],
  ])('%s may not', (ref, why) => expect(problem(ref)).toContain(why))

  test('are every branch and every tag where the grant names none', () => {
    const all = refProblemUnder(undefined)
    expect([all('refs/heads/a'), all('refs/tags/a'), all('refs/pull/1/head')]).toEqual([
      undefined,
      undefined,
      expect.stringContaining('only branches'),
    ])
  })

  test('whatever the patterns, nothing but branches and tags may be changed, in a time that is bounded', () => {
    const wide = refProblemUnder(Array.from({ length: 20 }, () => `refs/heads/${'a*'.repeat(94)}`))
    expect(wide(`refs/heads/${'a'.repeat(250)}b`)).toBeUndefined()
    expect(wide(`refs/heads/b${'a'.repeat(200)}`)).toContain('spec.git.refs')
    expect(refProblemUnder(['*'])('refs/notes/x')).toContain('only branches')
  })
})
