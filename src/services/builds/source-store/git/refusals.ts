// What is said of a commit that the store does not take. Each message names the cause and the cure. Pure.

import { AppError } from '../../../../lib/errors.ts'
import { printable } from '../../../../lib/text/printable.ts'
import { sourceReasons as reasons } from '../reasons.ts'
import { type GitResult, lastErrorLine } from './git-command.ts'
import { processLimits } from './git-environment.ts'

const megabyte = 1_048_576

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / megabyte)} MiB`
}

/** A refusal that does not end by itself: another try would find the same. */
function refused(reason: string, message: string): AppError {
  return new AppError('upstream_failed', message, { reason })
}

/** More bytes, packed or unpacked, than the platform takes. */
export function tooLarge(limit: number): AppError {
  const cure = 'remove large files from the repository'
  return refused(reasons.sourceTooLarge, `the commit is larger than ${megabytes(limit)}: ${cure}`)
}

/** A commit whose files take more than their size says; `what` begins the sentence. */
export function tooManyOrDeep(what: string): AppError {
  return refused(reasons.sourceTooLarge, `${what}: remove generated or vendored files from the repository`)
}

/** What git's checks refuse, or a pack that is not what was asked for. */
export function malformed(what: string): AppError {
  return refused(reasons.sourceMalformed, `the commit cannot be used: ${what}`)
}

const namedCharacters = 200

/** Files that are not in the repository itself. `paths` has at least one. */
export function notInRepository(what: 'submodule' | 'lfs', [first = '', ...more]: readonly string[]): AppError {
  // A path may hold anything but a zero byte.
  const named = printable(first).slice(0, namedCharacters)
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  const text =
    what === 'lfs'
      ? `${named}${others} is in Git LFS, which is not fetched: put the file into the repository itself, or load it when the app starts`
      : `${named}${others} is a submodule, which is not fetched: put its files into the repository (git subtree), or install it as a package`
  return refused(
    reasons.sourceIncomplete,
    `${text}; where the app does not need it, set spec.build.allowIncompleteSource to true`,
  )
}

/** Something that another try may not meet. */
export function failed(message: string): AppError {
  return new AppError('unavailable', message, { reason: reasons.fetchFailed })
}

const outOfMemory = /out of memory|cannot allocate|over limit|(malloc|calloc|realloc|mmap) failed|unable to create thread/i
const fsckError = /^error: object ([0-9a-f]+): (\w+): (.*)$/m
const incomplete = /did not receive expected object|missing (blob|tree|commit)|unresolved delta|remote did not send all/i

/** Why git refused a pack. A signal is one of the kernel's limits: nobody else ends git here. */
export function packRefusal(result: GitResult, packedBytes: number): AppError {
  const { errors, signal } = result
  const { dataBytes, processorSeconds } = processLimits
  if (/exceeds maximum allowed size|file too large/i.test(errors) || signal === 'SIGXFSZ') return tooLarge(packedBytes)
  if (outOfMemory.test(errors))
    return tooManyOrDeep(`an object of the commit takes more than ${megabytes(dataBytes)} of memory to unpack`)
  if (signal === 'SIGXCPU' || signal === 'SIGKILL')
    return tooManyOrDeep(`unpacking the commit takes more than ${processorSeconds} s of processor time`)
  const [, object = '', check = '', text = ''] = fsckError.exec(errors) ?? []
  if (check !== '') return malformed(`git's check ${check} refuses the object ${object}: ${text.slice(0, 200)}`)
  if (incomplete.test(errors)) return malformed(`objects are missing: ${lastErrorLine(errors)}`)
  return failed(`git cannot read the pack: ${lastErrorLine(errors)}`)
}
