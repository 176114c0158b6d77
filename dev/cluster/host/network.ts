// Adds, looks up and removes the node's address on the loopback device, the pod bridge and the kernel settings.
// Every function is idempotent.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, tryCommand } from '../run-command.ts'

const device = 'lo'

export async function hasAddress(address: string): Promise<boolean> {
  const shown = await runCommand('ip', ['-o', '-4', 'addr', 'show', 'dev', device])
  return shown.split('\n').some(line => line.split(/\s+/)[3] === address)
}

export async function addAddress(address: string): Promise<void> {
  if (!(await hasAddress(address))) await runCommand('ip', ['addr', 'add', address, 'dev', device])
}

export async function removeAddress(address: string): Promise<void> {
  if (await hasAddress(address)) await runCommand('ip', ['addr', 'del', address, 'dev', device])
}

export async function removeBridge(name: string): Promise<boolean> {
  if ((await tryCommand('ip', ['link', 'show', 'dev', name])).code !== 0) return false
  await runCommand('ip', ['link', 'delete', 'dev', name])
  return true
}

/** Kernel settings by their path below /proc/sys, for example `net/ipv4/ip_forward`. */
export async function readSysctl(name: string): Promise<string> {
  return (await readFile(join('/proc/sys', name), 'utf8')).trim()
}

export async function writeSysctl(name: string, value: string): Promise<void> {
  if ((await readSysctl(name)) !== value) await writeFile(join('/proc/sys', name), value)
}
