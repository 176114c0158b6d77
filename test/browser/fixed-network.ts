// A program that does not see the host's network interfaces change. Chromium gives up what it is loading
// (net::ERR_NETWORK_CHANGED) when an interface appears or goes, and the tests beside it start and end pods, each with an
// interface. Chromium has no switch for it, but does without the notifications when the kernel refuses it the socket for them:
// https://chromium.googlesource.com/chromium/src/+/HEAD/net/base/address_tracker_linux.cc (Init).
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shellWord } from '../../dev/cluster/environment.ts'
import type { DebianPackage } from '../../dev/cluster/node/packages.ts'

/** https://github.com/containers/bubblewrap */
export const sandbox: DebianPackage = {
  name: 'bubblewrap',
  program: '/usr/bin/bwrap',
  why: 'starts another program under a filter of system calls',
}

/** Numbers of the kernel: the architecture in a filter's facts (linux/audit.h) and the system call `socket` there. */
const architectures: Partial<Record<NodeJS.Architecture, { readonly audit: number; readonly socket: number }>> = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
}

// Classic BPF: https://docs.kernel.org/userspace-api/seccomp_filter.html and struct seccomp_data for the offsets.
const load = 0x20
const jumpIfEqual = 0x15
const end = 0x06
const offset = { systemCall: 0, architecture: 4, firstArgument: 16 } as const
const allow = 0x7fff0000
const fail = 0x00050000
const addressFamilyNotSupported = 97
const netlink = 16

/** Allows every system call but `socket(AF_NETLINK, …)`, which fails with EAFNOSUPPORT. */
function filterWithoutNetlink(): Buffer {
  const numbers = architectures[process.arch]
  if (numbers === undefined)
    throw new Error(`no filter of system calls for ${process.arch}: add its numbers to test/browser/fixed-network.ts`)
  const instructions = [
    [load, 0, 0, offset.architecture],
    [jumpIfEqual, 0, 4, numbers.audit],
    [load, 0, 0, offset.systemCall],
    [jumpIfEqual, 0, 2, numbers.socket],
    [load, 0, 0, offset.firstArgument],
    [jumpIfEqual, 1, 0, netlink],
    [end, 0, 0, allow],
    [end, 0, 0, fail | addressFamilyNotSupported],
  ] as const
  return Buffer.concat(
    instructions.map(([code, whenTrue, whenFalse, value]) => {
      const instruction = Buffer.alloc(8)
      instruction.writeUInt16LE(code, 0)
      instruction.writeUInt8(whenTrue, 2)
      instruction.writeUInt8(whenFalse, 3)
      instruction.writeUInt32LE(value, 4)
      return instruction
    }),
  )
}

/**
 * Writes into `folder` a program that runs `program` with its own arguments, environment and open files, and ends with the
 * process that started it. Gives its path.
 */
export async function withFixedNetwork(program: string, folder: string): Promise<string> {
  const filter = join(folder, 'without-netlink.bpf')
  const launcher = join(folder, 'with-fixed-network')
  await writeFile(filter, filterWithoutNetlink())
  await writeFile(
    launcher,
    `#!/bin/sh\nexec ${sandbox.program} --dev-bind / / --die-with-parent --seccomp 9 ${shellWord(program)} "$@" 9<${shellWord(filter)}\n`,
    { mode: 0o755 },
  )
  return launcher
}
