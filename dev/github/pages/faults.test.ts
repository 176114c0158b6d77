// The page of faults, clicked by a developer.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type RunningEmulator, startEmulator } from '../emulator.ts'
import { faultKinds } from '../faults/kinds.ts'
import { type Browser, createBrowser } from '../testing/browser.ts'
import { signIn } from '../testing/people.ts'

/** git and the validation take their time on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let browser: Browser

beforeAll(async () => {
  emulator = await startEmulator()
  browser = createBrowser()
})
afterAll(() => emulator.stop())

const open = () => browser.open(`${emulator.url}/_emulator`)
const user = async () =>
  (await fetch(`${emulator.apiUrl}/user`, { headers: { authorization: `Bearer ${emulator.personalTokens['dave']}` } })).status

test('a mere sign-in does not open it, a wrong control token neither', async () => {
  const page = await (await signIn(emulator, 'olivia')).open(`${emulator.url}/_emulator`)
  expect(page.text).not.toContain('rest-status')
  expect((await (await open()).form('Open').submit({ token: 'wrong' })).status).toBe(403)
  const forged = await fetch(`${emulator.url}/_emulator/arm`, {
    method: 'POST',
    body: new URLSearchParams({ kind: 'wider-token' }),
  })
  expect([forged.status, emulator.context.faults.list()]).toEqual([422, []])
})

test('it offers every kind, arms, lists, disarms', async () => {
  let page = await (await open()).form('Open').submit({ token: emulator.controlToken })
  for (const kind of Object.keys(faultKinds)) page.form(`Arm ${kind}`)
  page = await page.form('Arm rest-status').submit({ path: '/user', status: '503', headers: 'retry-after: 7', times: '5' })
  expect(page.text).toContain(
    '{&quot;path&quot;:&quot;/user&quot;,&quot;status&quot;:503,&quot;headers&quot;:{&quot;retry-after&quot;:&quot;7&quot;}}',
  )
  expect(await user()).toBe(503)
  const [armed] = emulator.context.faults.list()
  page = await (await open()).form(`Disarm ${armed?.id}`).submit()
  expect(await user()).toBe(200)
  page = await page.form('Arm rate-limited').submit({ limit: 'secondary', status: '429', for: '60' })
  expect([await user(), await user()]).toEqual([429, 429])
  await page.form('Disarm everything').submit()
  expect(await user()).toBe(200)
})

test('a wrong field is named', async () => {
  const page = await (await open()).form('Arm slow-body').submit({ bytesPerSecond: '0' })
  expect([page.status, page.text]).toEqual([422, expect.stringContaining('bytesPerSecond')])
  const form = (await open()).form('Arm wider-token')
  expect((await form.submit({ authenticity_token: 'stale' })).status).toBe(422)
  expect(emulator.context.faults.list()).toEqual([])
})
