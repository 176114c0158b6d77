// The control group of the container runtime and of every pod: it finds all their processes, whatever their names.
// Works on the unified hierarchy (v2) and on v1, where each controller has its own tree.
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { isAccessible } from '../file-access.ts'

const endMilliseconds = 15_000

/** Roots of the hierarchies to use, from /proc/self/mountinfo: the v1 trees when there are any, else the unified one. */
export function hierarchyRoots(mountinfo: string): readonly string[] {
  const mounts = mountinfo.split('\n').flatMap(line => {
    const [before = '', after = ''] = line.split(' - ')
    const point = before.split(' ')[4]
    const kind = after.split(' ')[0]
    return point !== undefined && (kind === 'cgroup' || kind === 'cgroup2') ? [{ point, kind }] : []
  })
  const old = mounts.filter(mount => mount.kind === 'cgroup')
  return (old.length > 0 ? old : mounts).map(mount => mount.point)
}

async function roots(): Promise<readonly string[]> {
  return hierarchyRoots(await readFile('/proc/self/mountinfo', 'utf8'))
}

async function inherit(parent: string, child: string, name: string): Promise<void> {
  const value = await readFile(join(parent, name), 'utf8').catch(() => undefined)
  if (value !== undefined) await writeFile(join(child, name), value.trim())
}

/** Makes `name` and `name/runtime` in every hierarchy. A v1 cpuset must be filled before a process may enter. */
export async function ensureCgroup(name: string): Promise<void> {
  for (const root of await roots()) {
    let parent = root
    for (const part of [name, 'runtime']) {
      const child = join(parent, part)
      await mkdir(child, { recursive: true })
      if ((await readFile(join(child, 'cpuset.cpus'), 'utf8').catch(() => 'none')).trim() === '') {
        await inherit(parent, child, 'cpuset.cpus')
        await inherit(parent, child, 'cpuset.mems')
      }
      parent = child
    }
  }
}

/** Moves a process, with all its future children, into `name/runtime`. */
export async function enterCgroup(name: string, pid: number): Promise<void> {
  for (const root of await roots()) await writeFile(join(root, name, 'runtime', 'cgroup.procs'), String(pid))
}

async function foldersOf(top: string): Promise<readonly string[]> {
  const entries = await readdir(top, { withFileTypes: true }).catch(() => [])
  const below = await Promise.all(entries.filter(entry => entry.isDirectory()).map(entry => foldersOf(join(top, entry.name))))
  return [...below.flat(), top]
}

async function membersOf(top: string): Promise<readonly number[]> {
  const lists = await Promise.all(
    (await foldersOf(top)).map(folder => readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')),
  )
  return lists.flatMap(list => list.split('\n').filter(Boolean).map(Number)).filter(pid => pid > 1 && pid !== process.pid)
}

/** Pids of all processes in the group. */
export async function cgroupMembers(name: string): Promise<readonly number[]> {
  const lists = await Promise.all((await roots()).map(root => membersOf(join(root, name))))
  return [...new Set(lists.flat())]
}

/** Ends every process in the group and removes it. Resolves to the number of ended processes. */
export async function removeCgroup(name: string): Promise<number> {
  const ended = new Set<number>()
  for (const root of await roots()) {
    const top = join(root, name)
    if (!(await isAccessible(top))) continue
    await waitUntil(
      `end of all processes in ${top}`,
      async () => {
        const members = await membersOf(top)
        for (const pid of members) if (kill(pid)) ended.add(pid)
        return members.length === 0
      },
      { timeoutMilliseconds: endMilliseconds },
    )
    await waitUntil(`removal of ${top}`, () => removeFolders(top), { timeoutMilliseconds: endMilliseconds })
  }
  return ended.size
}

async function removeFolders(top: string): Promise<true> {
  for (const folder of await foldersOf(top)) if (await isAccessible(folder)) await rmdir(folder)
  return true
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false // it ended in the meantime
  }
}
