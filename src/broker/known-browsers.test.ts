import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import { createKnownBrowsers } from './known-browsers.ts'

const cookieName = '__Host-sekisho-known'
const request = (value?: string) => ({ cookies: value === undefined ? {} : { [cookieName]: value } }) as unknown as FastifyRequest

function remembered(key: string, subject: string): string {
  const values: string[] = []
  const reply = { setCookie: (_name: string, text: string) => values.push(text) } as unknown as FastifyReply
  createKnownBrowsers(new SecretString(key)).remember(reply, subject)
  return values.join()
}

test('a browser is known by our signature only, and by one over a person', () => {
  const { subjectOf } = createKnownBrowsers(new SecretString('key'))
  const genuine = remembered('key', 'github|github.com|1003')
  expect(subjectOf(request(genuine))).toBe('github|github.com|1003')
  const [subject = '', signature = ''] = genuine.split('.')
  const other = Buffer.from('github|github.com|1004').toString('base64url')
  for (const forged of [
    undefined,
    '',
    subject,
    `${subject}.`,
    `${other}.${signature}`,
    `${subject}.${signature.slice(1)}`,
    `${genuine}.x`,
    remembered('another key', 'github|github.com|1003'),
    remembered('key', 'system:masters'),
    'x'.repeat(5000),
  ])
    expect(subjectOf(request(forged)), String(forged).slice(0, 60)).toBeUndefined()
})
