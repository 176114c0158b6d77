import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startLoopbackServer } from './loopback-server.ts'

async function started(state = 'the-state') {
  const server = await startLoopbackServer(state)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= server.close()
    return closed
  }
  onTestFinished(close)
  return { ...server, close }
}

test('only a response with the right state ends the wait', async () => {
  const server = await started()
  const waiting = server.callback(10_000)
  for (const rest of ['', '?state=', '?state=other&code=stolen', '?code=1']) {
    const answer = await fetch(`${server.redirectUri}${rest}`)
    expect(answer.status).toBe(404)
  }
  expect((await fetch(`${server.redirectUri}?state=the-state&code=1`, { method: 'POST' })).status).toBe(404)
  const answer = await fetch(`${server.redirectUri}?state=the-state&code=right`)
  expect(await answer.text()).toContain('You are signed in')
  expect((await waiting).searchParams.get('code')).toBe('right')
})

test('a refusal ends the wait, too, and the page says so', async () => {
  const server = await started()
  const waiting = server.callback(10_000)
  expect(await (await fetch(`${server.redirectUri}?state=the-state&error=access_denied`)).text()).toContain('refused')
  expect((await waiting).searchParams.get('error')).toBe('access_denied')
})

test('a connection without a request does not delay the end', async () => {
  const server = await started()
  const idle = connect(Number(new URL(server.redirectUri).port), '127.0.0.1')
  await once(idle, 'connect')
  // This response comes after the idle connection was accepted.
  await fetch(`${server.redirectUri}?state=the-state&code=1`)
  const ended = once(idle, 'close')
  idle.resume()
  await server.close()
  await ended
})

test('a sign-in that never happens is unavailable', async () => {
  const server = await started()
  await expect(server.callback(1)).rejects.toMatchObject({ code: 'unavailable' })
})
