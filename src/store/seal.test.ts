import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import { createSealer } from './seal.ts'

const newKey = (): SecretString => new SecretString(randomBytes(32).toString('base64'))
const secret = new SecretString('ghs_16C7e42F292c6912E7710c838347Ae178B4a')

test('opens what it sealed, under the same context only', () => {
  const sealer = createSealer([newKey()], 'tokens')
  const sealed = sealer.seal(secret, 'row-1')
  expect(sealed).not.toContain('ghs_')
  expect(sealer.open(sealed, 'row-1').reveal()).toBe(secret.reveal())
  expect(() => sealer.open(sealed, 'row-2')).toThrow('does not open')
})

test('a changed byte, another key and another purpose do not open it', () => {
  const key = newKey()
  const sealed = createSealer([key], 'tokens').seal(secret, 'row')
  const altered = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`
  expect(() => createSealer([key], 'tokens').open(altered, 'row')).toThrow()
  expect(() => createSealer([newKey()], 'tokens').open(sealed, 'row')).toThrow('not in the keyring')
  expect(() => createSealer([key], 'sessions').open(sealed, 'row')).toThrow('not in the keyring')
})

test('during a rotation the new key seals and both open', () => {
  const [old, fresh] = [newKey(), newKey()]
  const before = createSealer([old], 'tokens').seal(secret, 'row')
  const both = createSealer([fresh, old], 'tokens')
  expect(both.open(before, 'row').reveal()).toBe(secret.reveal())
  expect(() => createSealer([old], 'tokens').open(both.seal(secret, 'row'), 'row')).toThrow('not in the keyring')
})

test('a key of the wrong length is refused by an error that names the cure', () => {
  expect(() => createSealer([new SecretString('short')], 'tokens')).toThrow('openssl rand -base64 32')
  expect(() => createSealer([], 'tokens')).toThrow('at least one')
})

test('a value whose authentication tag was cut is refused', () => {
  const sealer = createSealer([newKey()], 'tokens')
  const [version, id, payload] = sealer.seal(new SecretString(''), 'row-1').split('.')
  // Nonce and four of the sixteen bytes of the tag: a quarter of it would be guessed in an afternoon.
  const cut = Buffer.from(payload ?? '', 'base64url')
    .subarray(0, 12 + 4)
    .toString('base64url')
  expect(() => sealer.open([version, id, cut].join('.'), 'row-1')).toThrow('does not open')
})
