import { expect, test } from 'vitest'
import { certificateBlocks } from './certificate-blocks.ts'

const block = (content: string): string => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----`

test('each certificate by itself and in order, without what is around and between them', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nk\n-----END PRIVATE KEY-----'
  const pem = ['subject=leaf', block('a\nb'), key, block('c'), '-----BEGIN CERTIFICATE-----\ncut'].join('\n')
  expect(certificateBlocks(pem)).toEqual([block('a\nb'), block('c')])
})

test('none', () => {
  expect(certificateBlocks('')).toEqual([])
})
