import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installMissing } from '../../dev/cluster/node/packages.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { sandbox, withFixedNetwork } from './fixed-network.ts'

const run = promisify(execFile)
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fixed network's "))
  await installMissing(standardErrorProgress(), [sandbox])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a program with a fixed network', () => {
  it('is refused the socket by which the kernel tells of interfaces, which it has otherwise', async () => {
    const script = ['-e', 'require("os").networkInterfaces()']
    await run(process.execPath, script)
    await expect(run(await withFixedNetwork(process.execPath, folder), script)).rejects.toThrow(/uv_interface_addresses.*97/s)
  })

  it('has its arguments as they are and the other sockets', async () => {
    const script = `require("net").createServer().listen(0, "127.0.0.1", function () { console.log(process.argv[1], this.address().port > 0); this.close() })`
    const { stdout } = await run(await withFixedNetwork(process.execPath, folder), ['-e', script, `two words, one ' and one "`])
    expect(stdout).toBe(`two words, one ' and one " true\n`)
  })
})
