// Whether a disk has room for what is about to be written: programs that find out in the middle end with errors about
// something else.
import { statfs } from 'node:fs/promises'
import { AppError } from '../../../src/lib/errors.ts'

const bytesOfMebibyte = 2 ** 20

export type Space = { readonly mebibytes: number; readonly files: number }

/** `files`: how many more can be made; infinite where the file system does not count them. */
export async function freeSpace(folder: string): Promise<Space> {
  const { bavail, bsize, ffree, files } = await statfs(folder)
  return { mebibytes: Math.floor((bavail * bsize) / bytesOfMebibyte), files: files === 0 ? Number.POSITIVE_INFINITY : ffree }
}

/** `setting`: the variable that names another folder. @throws a sentence with the cure when there is less than this */
export function demandSpace(folder: string, has: Space, needs: Space, setting: string): void {
  const lacking =
    has.mebibytes < needs.mebibytes
      ? `has ${has.mebibytes} MiB free, and ${needs.mebibytes} are needed`
      : has.files < needs.files
        ? `has room for ${has.files} more files, and ${needs.files} are needed`
        : undefined
  if (lacking !== undefined)
    throw new AppError(
      'unavailable',
      `the disk of ${folder} ${lacking}: delete something there, or set ${setting} to a folder elsewhere`,
    )
}
