// Unpacks Debian packages into a folder. Their scripts never run, no file keeps a set-uid bit, and links that lead to the root
// of a system are made to stay in the folder.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Environment } from '../shared/config.ts'
import { runProgram } from '../shared/run-program.ts'

const setIdBits = 0o6000
const documentation = ['usr/share/doc', 'usr/share/man', 'usr/share/info', 'usr/share/lintian', 'usr/share/bug']

/** `archives` are paths of .deb files. */
export function unpack(archives: readonly string[], folder: string, environment: Environment): void {
  mkdirSync(folder, { recursive: true })
  for (const archive of archives) runProgram({ command: ['dpkg-deb', '-x', archive, folder], folder, environment })
  for (const path of documentation) rmSync(join(folder, path), { recursive: true, force: true })
  tidy(folder, folder)
}

function tidy(root: string, folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const status = lstatSync(path)
    if (status.isDirectory()) tidy(root, path)
    else if (status.isSymbolicLink()) keepInside(root, path)
    else if (status.isFile()) {
      if ((status.mode & setIdBits) !== 0) chmodSync(path, status.mode & 0o777)
      if (name.endsWith('.pc')) movePrefix(root, path)
    }
  }
}

/**
 * An absolute link leads to the same place in the folder, and `libx.so` of a package of headers to the library of the image when
 * only that has it. A link such as /etc/alternatives/x has nothing to lead to, and stays as it is.
 */
function keepInside(root: string, path: string): void {
  const target = readlinkSync(path)
  const within = target.startsWith('/') ? join(root, target) : join(dirname(path), target)
  const ofImage = join('/', relative(root, within))
  if (existsSync(within)) {
    if (target.startsWith('/')) relink(path, relative(dirname(path), within))
  } else if (existsSync(ofImage)) relink(path, ofImage)
}

function relink(path: string, target: string): void {
  rmSync(path)
  symlinkSync(target, path)
}

/** pkg-config(1) reads folders from these files, which say /usr. */
function movePrefix(root: string, path: string): void {
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replaceAll(/(^\w+=|[\s=]|-[IL])\/usr(?=[/\s]|$)/gm, (_all, before: string) => `${before}${root}/usr`),
  )
}
