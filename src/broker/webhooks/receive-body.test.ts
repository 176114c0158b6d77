import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { parseGitHubEvent } from './github-event.ts'
import { bodyLimit, receiveBody } from './receive-body.ts'

const secrets = [new SecretString('secret')]

function chunked(bytes: Buffer, step: number): Readable {
  const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
    bytes.subarray(index * step, (index + 1) * step),
  )
  return Readable.from(chunks)
}
const received = (text: string | Buffer, step = 7) =>
  receiveBody(chunked(Buffer.from(text), step), { secrets, length: undefined })
const contentOf = async (text: string, step = 7): Promise<unknown> =>
  JSON.parse((await received(text, step)).content().toString())

const repository = { id: 5, full_name: 'acme/shop', nested: { list: [1, '}"]', { a: '\\"' }] } }
const installation = { id: 9, account: { id: 7 } }
const sender = { id: 1, login: 'olivia "the" {owner}' }
const bodies: readonly (readonly [string, object])[] = [
  [
    'push',
    {
      ref: 'refs/heads/ﬁx/関所',
      before: 'a',
      after: 'b',
      commits: [{ message: '{"ref":"x"}' }],
      repository,
      installation,
      sender,
    },
  ],
  ['pull_request', { action: 'opened', number: 3, pull_request: { id: 1, head: {} }, repository, installation, sender }],
  ['installation', { action: 'created', installation, sender, requester: { id: 1003 }, repositories: [repository] }],
  [
    'installation_repositories',
    { action: 'added', installation, sender, repositories_added: [repository], repositories_removed: [] },
  ],
  ['installation_target', { action: 'renamed', account: { id: 7 }, installation, changes: {}, target_type: 'Organization' }],
  ['github_app_authorization', { action: 'revoked', sender }],
  ['organization', { action: 'member_removed', organization: { id: 7 }, membership: {}, sender }],
  ['membership', { action: 'removed', team: { id: 11 }, member: { id: 1 }, organization: { id: 7 }, scope: 'team', sender }],
  ['member', { action: 'added', member: { id: 1 }, repository, organization: { id: 7 }, sender }],
  ['team', { action: 'deleted', team: { id: 11 }, organization: { id: 7 }, sender }],
  ['repository', { action: 'renamed', repository, organization: { id: 7 }, changes: { name: {} }, sender }],
  ['ping', { zen: 'Keep it logically awesome.', hook_id: 1, hook: {} }],
]

test.each(bodies)('a %s reads the same in chunks of any size as in one piece', async (event, body) => {
  for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)])
    for (const step of [1, 2, 3, 17, 100_000]) {
      const { content } = await received(text, step)
      expect(parseGitHubEvent(event, content())).toEqual(parseGitHubEvent(event, Buffer.from(text)))
    }
})

test('members that are not wanted are dropped, whatever their content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.json(), fc.integer({ min: 1, max: 40 }), async (before, after, step) => {
      const text = `{"head_commit":${before},"action":"x","sender":{"id":1},"commits":${after}}`
      expect(await contentOf(text, step)).toEqual({ action: 'x', sender: { id: 1 } })
    }),
  )
})

test('the last of two members with the same name counts, as for JSON.parse', async () => {
  expect(await contentOf('{"action":"a","action":"b"}')).toEqual({ action: 'b' })
})

test('any bytes are an object or an invalid_request', async () => {
  const anyBody = fc.oneof(
    fc.uint8Array().map(array => Buffer.from(array)),
    fc.json().map(text => Buffer.from(text)),
    fc.json().map(text => Buffer.from(`{"action":${text}`)),
    fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '"action"')).map(parts => Buffer.from(parts.join(''))),
  )
  await fc.assert(
    fc.asyncProperty(anyBody, async bytes => {
      const body = await received(bytes, 3)
      try {
        parseGitHubEvent('star', body.content())
      } catch (error) {
        expect(isAppError(error, 'invalid_request')).toBe(true)
      }
    }),
  )
})

test('anything around the object is refused', async () => {
  for (const text of ['{}{}', '{} x', '{},', '{}"x"', 'x{}', '[]', '""'])
    await expect(contentOf(text), text).rejects.toMatchObject({ code: 'invalid_request' })
})

test('the signature covers every byte, also those that are not kept', async () => {
  const text = JSON.stringify({ action: 'x', rest: 'y'.repeat(1000) })
  const signature = `sha256=${createHmac('sha256', 'secret').update(text).digest('hex')}`
  expect((await received(text)).isSigned(signature)).toBe(true)
  expect((await received(text.replace('yyy', 'yyz'))).isSigned(signature)).toBe(false)
  expect((await received('')).isSigned(`sha256=${createHmac('sha256', 'secret').digest('hex')}`)).toBe(false)
})

test('a body above the limit is refused by its length, and by its bytes', async () => {
  await expect(receiveBody(Readable.from([]), { secrets, length: bodyLimit + 1 })).rejects.toMatchObject({
    code: 'payload_too_large',
  })
  const chunk = Buffer.alloc(1024 * 1024)
  const endless = Readable.from(
    (function* () {
      for (;;) yield chunk
    })(),
  )
  await expect(receiveBody(endless, { secrets, length: undefined })).rejects.toMatchObject({ code: 'payload_too_large' })
})

test('wanted values that are too large in sum are refused', async () => {
  const body = await received(JSON.stringify({ repository: { id: 1, full_name: 'x'.repeat(300_000) } }), 65_536)
  expect(() => body.content()).toThrow('too large')
})

test('of a review or comment on a long text only the shape of that text is read: nobody makes it too large by writing', async () => {
  const text = '\u0000'.repeat(65_536)
  const pull = { number: 3, title: 'x', body: text }
  const shared = { repository: { id: 5, full_name: 'acme/shop' }, installation: { id: 9 }, sender: { id: 1 } }
  const events: readonly (readonly [string, object])[] = [
    ['pull_request', { action: 'edited', number: 3, pull_request: pull, ...shared }],
    ['pull_request_review', { action: 'submitted', review: { id: 2 }, pull_request: pull, ...shared }],
    ['issue_comment', { action: 'created', issue: pull, comment: { body: 'x' }, ...shared }],
  ]
  const found = events.map(async ([event, body]) => {
    const { content } = await received(JSON.stringify(body), 65_536)
    return parseGitHubEvent(event, content()).pullRequest
  })
  expect(await Promise.all(found)).toEqual([3, undefined, undefined])
})

test('small members that are repeated very often are too large in sum, too', async () => {
  const often = (name: string): string => `{${Array.from({ length: 70_000 }, () => `"${name}":0`).join(',')}}`
  for (const name of ['team', 'number']) {
    const body = await received(often(name), 65_536)
    expect(() => body.content()).toThrow('too large')
  }
})
