// The protocol of measured programs and the usage from /proc, with real processes.
import { expect, onTestFinished, test } from 'vitest'
import { bytesOfStatus, childrenCpuSecondsOfStat, cpuSecondsOfStat, usageOf } from './process-usage.ts'
import { startProgram } from './program.ts'

const echo = `
const lines = require('node:readline').createInterface({ input: process.stdin })
console.log(JSON.stringify({ ready: true }))
lines.on('line', line => {
  const command = JSON.parse(line)
  if (command.die) { console.error('last words'); process.exit(7) }
  if (command.burn) { const begun = process.cpuUsage(); const used = () => { const { user, system } = process.cpuUsage(begun); return user + system }; while (used() < command.burn * 1000); }
  console.log(JSON.stringify(command.bad ? { error: 'refused' } : { echoed: command }))
})
lines.on('close', () => process.exit(0))
`

async function started(script = echo) {
  const program = await startProgram({ name: 'echo', path: process.execPath, args: ['-e', script] })
  onTestFinished(() => program.stop())
  return program
}

test('answers come in the order of the commands', async () => {
  const program = await started()
  const answers = await Promise.all([1, 2, 3].map(n => program.call({ n })))
  expect(answers).toEqual([1, 2, 3].map(n => ({ echoed: { n } })))
})

test('an answer {error} rejects; the end of the program rejects with the end of its error output', async () => {
  const program = await started()
  await expect(program.call({ bad: true })).rejects.toThrow('echo: refused')
  await expect(program.call({ die: true })).rejects.toThrow(/echo ended with 7: last words/)
  await expect(program.call({})).rejects.toThrow('echo ended')
})

test('a command that is not answered in time rejects', async () => {
  const program = await started()
  await expect(program.call({ burn: 400 }, AbortSignal.timeout(50))).rejects.toThrow('did not answer in time')
})

test('a program that cannot start, or whose output is not JSON, rejects', async () => {
  await expect(startProgram({ name: 'nobody', path: '/no/such/program' })).rejects.toThrow('nobody cannot be started')
  await expect(startProgram({ name: 'mumbler', path: process.execPath, args: ['-e', 'console.log("well")'] })).rejects.toThrow(
    'mumbler answered no JSON: well',
  )
})

test('usage reports the CPU time that the program used and its resident memory', async () => {
  const program = await started()
  const before = await program.usage()
  await program.call({ burn: 300 })
  const after = await program.usage()
  const burned = after.cpuSeconds - before.cpuSeconds
  // Ticks are 10 ms.
  expect(burned).toBeGreaterThan(0.27)
  expect(burned).toBeLessThan(1)
  expect(after.rssBytes).toBeGreaterThan(10_000_000)
  expect(after.peakRssBytes).toBeGreaterThanOrEqual(after.rssBytes)
})

test('the formats of /proc are read as proc(5) defines them, also with an unusual process name', async () => {
  const stat = '7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 70 30 20 0 11 0 100 0 0'
  expect(cpuSecondsOfStat(stat)).toBe(3)
  expect(childrenCpuSecondsOfStat(stat)).toBe(1)
  expect(bytesOfStatus('Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n', 'VmRSS')).toBe(1_048_576)
  await expect(usageOf(2 ** 30)).rejects.toThrow('ENOENT')
})
