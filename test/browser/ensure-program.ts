// Programs that tests need and the product does not: installed from Debian when they are missing, or named with the command that installs them.
import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'

export type DebianProgram = { readonly debianPackage: string; readonly program: string }

/** Throws with the remedy where it cannot install (not root, no apt-get, no network). */
export async function ensureProgram({ debianPackage, program }: DebianProgram): Promise<void> {
  if (
    await access(program).then(
      () => true,
      () => false,
    )
  )
    return
  const remedy = `${program} is missing: apt-get install -y ${debianPackage}`
  if (process.getuid?.() !== 0) throw new Error(`${remedy} (as root)`)
  console.error(`${remedy} (being done now)`)
  await new Promise<void>((resolve, reject) => {
    // Files of tests run side by side, and each may be the one that installs.
    const wait = ['-o', 'DPkg::Lock::Timeout=90']
    const child = spawn('/usr/bin/apt-get', [...wait, 'install', '-y', '--no-install-recommends', debianPackage], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('error', reject)
    child.on('close', code =>
      code === 0 ? resolve() : reject(new Error(`${remedy}: it ended with ${code}; try apt-get update first`)),
    )
  })
}
