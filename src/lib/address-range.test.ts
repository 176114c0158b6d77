// Which texts are ranges of addresses, and which range lies in which.
import { expect, test } from 'vitest'
import { addressRange, containsRange } from './address-range.ts'

test.each([
  ['10.0.0.0/8', 'ipv4', 8],
  ['0.0.0.0/0', 'ipv4', 0],
  ['168.63.129.16/32', 'ipv4', 32],
  ['::/0', 'ipv6', 0],
  ['fd00:ec2::254/128', 'ipv6', 128],
  ['2001:db8:1::/48', 'ipv6', 48],
])('%s is a range', (text, family, prefix) => {
  expect(addressRange(text)).toMatchObject({ cidr: text, family, prefix })
})

test.each(['', '10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'localhost/32', '10.0.0.0/8 ', '10.0.0.0/-1'])(
  '%j is none',
  text => {
    expect(() => addressRange(text)).toThrow('must consist of ranges')
  },
)

test.each(['10.1.0.0/8', '10.0.0.1/31', 'fd00::1/64', '2001:db8:1::/32'])('%s does not name its first address', text => {
  expect(() => addressRange(text)).toThrow('first address')
})

test.each<readonly [string, string, boolean]>([
  ['10.0.0.0/8', '10.244.0.0/16', true],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.244.0.0/16', '10.0.0.0/8', false],
  ['10.0.0.0/8', '11.0.0.0/16', false],
  ['0.0.0.0/0', '::/0', false],
  ['::/0', 'fd00:ec2::254/128', true],
])('%s contains %s: %s', (outer, inner, expected) => {
  expect(containsRange(addressRange(outer), addressRange(inner))).toBe(expected)
})
