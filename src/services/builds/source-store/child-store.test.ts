// The process of the source store as a child: it comes back when it ends, and it does not outlive its parent.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { createChildStore } from './child-store.ts'
import { createOrderClient } from './orders/order-client.ts'

const fingerprint = 'a'.repeat(64)

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'child-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The processes of the store in this folder, by the environment that they were given. */
async function storesIn(folder: string): Promise<readonly { readonly pid: number; readonly environment: readonly string[] }[]> {
  const found: { readonly pid: number; readonly environment: readonly string[] }[] = []
  for (const name of await readdir('/proc')) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (!command.includes('source-store/main.ts')) continue
    const environment = (await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')).split('\0').filter(text => text !== '')
    if (environment.includes(`SEKISHO_SOURCE_FOLDER=${folder}`)) found.push({ pid: Number(name), environment })
  }
  return found
}

test('the child knows its five settings and nothing else, and is started again when it ends', async () => {
  const folder = await scratch()
  const socket = join(folder, 'orders.sock')
  process.env['SEKISHO_SEALING_KEYS'] = 'secret'
  onTestFinished(() => void delete process.env['SEKISHO_SEALING_KEYS'])
  const child = createChildStore({ socket, folder, port: 0, megabytes: 1, clock: systemClock, log: silentLog })
  onTestFinished(child.stop)
  await child.start()
  const [first] = await storesIn(folder)
  const names = first?.environment.map(variable => variable.split('=', 1)[0])
  const settings = ['SOCKET', 'FOLDER', 'PORT', 'MEGABYTES'].map(name => `SEKISHO_SOURCE_${name}`)
  expect(names).toEqual([...settings, 'SEKISHO_LOG_LEVEL'])
  const orders = createOrderClient(socket)
  onTestFinished(orders.close)
  expect(await orders.has(fingerprint)).toBe(false)
  process.kill(first?.pid ?? 0, 'SIGKILL')
  await waitUntil('another process of the store', async seen => seen((await storesIn(folder))[0]?.pid) !== first?.pid)
  await waitUntil('an answer of the new store', async () => !(await orders.has(fingerprint)))
  await child.stop()
  expect(await storesIn(folder)).toEqual([])
  await expect(orders.has(fingerprint)).rejects.toMatchObject({ code: 'unavailable', reason: 'FetchFailed' })
})

test('the child ends when its parent is killed', async () => {
  const folder = await scratch()
  const code = `
    import { createChildStore } from ${JSON.stringify(new URL('./child-store.ts', import.meta.url).href)}
    import { systemClock } from ${JSON.stringify(new URL('../../../lib/clock.ts', import.meta.url).href)}
    const log = { error() {} }
    const folder = ${JSON.stringify(folder)}
    await createChildStore({ socket: folder + '/orders.sock', folder, port: 0, megabytes: 1, clock: systemClock, log }).start()
    console.log('started')`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  await once(parent.stdout, 'data')
  expect(await storesIn(folder)).toHaveLength(1)
  parent.kill('SIGKILL')
  await waitUntil('the end of every store', async () => {
    expect(await storesIn(folder)).toEqual([])
    return true
  })
})
