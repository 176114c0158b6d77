// Runs inside a container of the platform, as its own user: prints as JSON what the process could read there: the environments
// of all processes and every file that was mounted. It is passed to `node -e`, so that nothing has to be in the image.

type Found = { readonly place: string; readonly text: string }

/** The text of the program. It must not use anything of this module: only its source travels. */
export function searchProgram(): string {
  return `(${search})()`
}

function search(): void {
  const files = process.getBuiltinModule('node:fs')
  const found: Found[] = []
  const see = (place: string): void => {
    try {
      found.push({ place, text: files.readFileSync(place, 'latin1') })
    } catch (error) {
      // Files of the kernel and of processes that have ended.
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
  for (const id of files.readdirSync('/proc').filter(name => /^\d+$/.test(name))) see(`/proc/${id}/environ`)
  const virtual = ['proc', 'sysfs', 'cgroup', 'cgroup2', 'overlay', 'devpts', 'mqueue']
  const mounts = files
    .readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .filter(([, path = '', type = '']) => path.startsWith('/') && !virtual.includes(type))
    .map(([, path = '']) => path)
  for (const mount of mounts.filter(path => !/^\/(proc|sys|dev)(\/|$)/.test(path))) {
    if (!files.statSync(mount).isDirectory()) see(mount)
    else
      for (const entry of files.readdirSync(mount, { withFileTypes: true, recursive: true })) {
        const path = `${entry.parentPath}/${entry.name}`
        if (files.statSync(path, { throwIfNoEntry: false })?.isFile()) see(path)
      }
  }
  console.log(JSON.stringify(found))
}
