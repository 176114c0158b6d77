import { expect, test } from 'vitest'
import { withBoundedBody } from './bounded-body.ts'

const tooLarge = () => new Error('too large')

test('a response up to the limit is read whole', async () => {
  const read = await withBoundedBody(new Response('12345', { status: 201, headers: { 'x-kept': 'yes' } }), 5, tooLarge)
  expect([await read.text(), read.status, read.headers.get('x-kept')]).toEqual(['12345', 201, 'yes'])
})

test('one more byte is refused, without waiting for the rest', async () => {
  let cancelled = false
  const endless = new ReadableStream({
    pull: controller => controller.enqueue(new Uint8Array(3)),
    cancel: () => {
      cancelled = true
    },
  })
  await expect(withBoundedBody(new Response(endless), 5, tooLarge)).rejects.toThrow('too large')
  expect(cancelled).toBe(true)
})

test('a response without a body has none', async () => {
  expect((await withBoundedBody(new Response(null, { status: 204 }), 5, tooLarge)).body).toBeNull()
})
