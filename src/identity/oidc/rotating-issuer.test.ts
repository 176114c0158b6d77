import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Issuer } from './issuer.ts'
import { createRotatingIssuer } from './rotating-issuer.ts'

test('each period has one issuer', async () => {
  let period = 7
  let made = 0
  const handledBy: number[] = []
  const make = (): Issuer => {
    made += 1
    const mine = made
    return {
      handle: async () => void handledBy.push(mine),
      pending: async () => ({ id: String(mine), clientId: 'kubernetes', redirectHost: undefined }),
      approve: async () => String(mine),
      refuse: async () => String(mine),
      endSession: async () => {},
      forgetOthers: async () => {},
    }
  }
  const issuer = createRotatingIssuer({ period: async () => period }, make)
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  expect(made).toBe(0)
  await issuer.handle(request, response, '192.0.2.1')
  expect(await issuer.approve(request, response, 'x')).toBe('1')
  period = 8
  await issuer.handle(request, response, '192.0.2.1')
  expect((await issuer.pending(request, response)).id).toBe('2')
  expect(handledBy).toEqual([1, 2])
})
