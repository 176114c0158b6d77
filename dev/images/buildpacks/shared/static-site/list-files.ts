// The files that a static site consists of, each with a digest of its bytes. Not among them: hidden files other than those of
// .well-known (RFC 8615), what a symbolic link finds outside of the folder, and what describes the app itself.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { BuildFailure } from '../build-failure.ts'
import type { SiteFile } from './server/site.ts'

/** More are not a site. */
const maxFiles = 200_000
/** At the root of the app, where the site may be the whole repository. */
const notOfTheSite = new Set([
  ...['node_modules', 'static.json', 'Procfile', 'Aptfile'],
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock'],
])

/** @throws BuildFailure when there are too many */
export function listFiles(folder: string): readonly SiteFile[] {
  const found: SiteFile[] = []
  for (const { path, real } of filesBelow({ root: realpathSync(folder), path: '', within: [] })) {
    found.push([path, entityTag(real)])
    if (found.length > maxFiles) throw new BuildFailure(`the site has more than ${maxFiles} files: leave some of them out`)
  }
  return found
}

/** `within`: the folders that are being read, so that a link that leads in a circle ends. */
type Place = { readonly root: string; readonly path: string; readonly within: readonly string[] }

function* filesBelow({ root, path, within }: Place): Generator<{ readonly path: string; readonly real: string }> {
  const names = readdirSync(join(root, path)).filter(name => !isLeftOut(path, name))
  for (const name of names.sort()) {
    const relative = path === '' ? name : `${path}/${name}`
    const real = placeInside(root, join(root, relative))
    const status = real === undefined || within.includes(real) ? undefined : statSync(real)
    if (real === undefined || status === undefined) continue
    if (status.isFile()) yield { path: relative, real }
    if (status.isDirectory()) yield* filesBelow({ root, path: relative, within: [...within, real] })
  }
}

function isLeftOut(path: string, name: string): boolean {
  if (path === '' && notOfTheSite.has(name)) return true
  return name.startsWith('.') && !(path === '' && name === '.well-known')
}

/** Where a path really is; undefined for a link to nothing, out of the site, or to a hidden file. */
function placeInside(root: string, path: string): string | undefined {
  let real: string
  try {
    real = realpathSync(path)
  } catch {
    return undefined
  }
  const isHidden = real
    .slice(root.length + 1)
    .split('/')
    .some((part, index) => part.startsWith('.') && !(index === 0 && part === '.well-known'))
  return real.startsWith(root + sep) && !isHidden ? real : undefined
}

/** Read in pieces: films are files of sites, too. */
function entityTag(file: string): string {
  const hash = createHash('sha256')
  const piece = Buffer.alloc(1 << 18)
  const open = openSync(file, 'r')
  try {
    for (let size = readSync(open, piece); size > 0; size = readSync(open, piece)) hash.update(piece.subarray(0, size))
  } finally {
    closeSync(open)
  }
  return `"${hash.digest('base64url').slice(0, 22)}"`
}
