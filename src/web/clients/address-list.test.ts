import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAddressList } from './address-list.ts'
import { addressKey } from './client-key.ts'

test('contains the addresses of its networks, in either form, and nothing else', () => {
  const list = parseAddressList('10.0.0.0/8, 192.0.2.7,\n2001:db8::/32')
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8::1'])
    expect(list.contains(address), address).toBe(true)
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', '', 'unknown', '10.1.2.3, 1.1.1.1', '010.1.2.3'])
    expect(list.contains(address), address).toBe(false)
  expect(parseAddressList('').contains('127.0.0.1')).toBe(false)
  expect([parseAddressList(' ').isEmpty, list.isEmpty]).toEqual([true, false])
})

test.each([
  '10.0.0.0/33',
  '10.0.0.1/8',
  '10.0.0.1 10.0.0.2',
  'fe80::1%eth0',
  'proxy.example',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.0/-1',
])('%s is refused', text => {
  expect(() => parseAddressList(text)).toThrow(text.slice(0, 60))
})

test('an IPv6 network of 64 bits is one client, whatever the spelling', () => {
  expect(addressKey('2001:db8::1')).toBe(addressKey('2001:0db8:0:0:ffff:1:2:3'))
  expect(addressKey('2001:db8:0:1::1')).not.toBe(addressKey('2001:db8::1'))
  expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1')
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
      const groups = addressKey(one).replace('::/64', '').split(':')
      expect(groups).toHaveLength(4)
      expect(addressKey(one) === addressKey(other) || one !== other).toBe(true)
    }),
  )
})
