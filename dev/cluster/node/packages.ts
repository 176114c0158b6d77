// The Debian packages that a node needs: finds the missing ones by their programs and installs them as root.
// Their own services do not start: the cluster runs the programs itself, with its own configuration.
import { constants, rm, writeFile } from 'node:fs/promises'
import { AppError } from '../../../src/lib/errors.ts'
import { isAccessible } from '../file-access.ts'
import { withLock } from '../processes/lock.ts'
import type { Progress } from '../progress.ts'
import { runCommand } from '../run-command.ts'

export type DebianPackage = { readonly name: string; readonly program: string; readonly why: string }

export const nodePackages: readonly DebianPackage[] = [
  { name: 'containerd', program: '/usr/bin/containerd', why: 'runs containers' },
  { name: 'runc', program: '/usr/sbin/runc', why: 'starts a container' },
  { name: 'containernetworking-plugins', program: '/usr/lib/cni/bridge', why: 'gives pods their network' },
  { name: 'iptables', program: '/usr/sbin/iptables', why: 'Services and address translation' },
  { name: 'conntrack', program: '/usr/sbin/conntrack', why: 'lets kube-proxy drop closed connections' },
  { name: 'docker-registry', program: '/usr/bin/docker-registry', why: 'the image registry' },
  { name: 'iproute2', program: '/usr/sbin/ip', why: 'the node address' },
]

const installMilliseconds = 15 * 60_000
/** invoke-rc.d(8): this file decides whether a package may start its service; 101 says no. */
const servicePolicy = '/usr/sbin/policy-rc.d'

export async function missingPackages(packages: readonly DebianPackage[] = nodePackages): Promise<readonly DebianPackage[]> {
  const present = await Promise.all(packages.map(item => isAccessible(item.program, constants.X_OK)))
  return packages.filter((_item, index) => !present[index])
}

export function installCommand(packages: readonly DebianPackage[]): string {
  return `apt-get install -y --no-install-recommends ${packages.map(item => item.name).join(' ')}`
}

/**
 * Installs what is missing; needs root and apt. Gives the names it installed. One process at a time: apt-get refuses a second
 * one.
 */
export async function installMissing(
  progress: Progress,
  packages: readonly DebianPackage[] = nodePackages,
): Promise<readonly string[]> {
  if ((await missingPackages(packages)).length === 0) return []
  return withLock(
    'Debian packages',
    // Another process may have installed them meanwhile.
    async () => install(progress, await missingPackages(packages)),
    pid => progress.note(`process ${pid} installs Debian packages; waiting for it`),
  )
}

async function install(progress: Progress, missing: readonly DebianPackage[]): Promise<readonly string[]> {
  if (missing.length === 0) return []
  const names = missing.map(item => item.name)
  if (!(await isAccessible('/usr/bin/apt-get', constants.X_OK))) {
    throw new AppError('invalid_configuration', `this machine has no apt-get; install yourself what brings ${names.join(', ')}`)
  }
  if (process.getuid?.() !== 0) {
    const paths = missing.map(item => item.program).join(', ')
    throw new AppError('invalid_configuration', `not installed: ${paths}; install as root: ${installCommand(missing)}`)
  }
  const heldBack = !(await isAccessible(servicePolicy, constants.X_OK))
  if (heldBack) await writeFile(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const options = { timeoutMilliseconds: installMilliseconds, environment: { DEBIAN_FRONTEND: 'noninteractive' } }
    await progress.step(`install Debian packages ${names.join(' ')}`, async () => {
      await runCommand('apt-get', ['update'], options)
      await runCommand('apt-get', ['install', '-y', '--no-install-recommends', ...names], options)
    })
  } finally {
    if (heldBack) await rm(servicePolicy, { force: true })
  }
  return names
}
