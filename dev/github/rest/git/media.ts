// Owns: the answers about commits and files in other forms than JSON. https://docs.github.com/en/rest/using-the-rest-api/media-types
import { diffText, patchText } from '../../git/patch.ts'
import { inForm, type RestAnswer } from '../protocol/answer.ts'
import type { MediaForm } from '../protocol/media-type.ts'
import type { RepositoryCall } from '../route.ts'

const answerIn = (form: MediaForm, data: string | Buffer): RestAnswer =>
  inForm(`application/vnd.github.${form}; charset=utf-8`, data)

/** A commit (`since` is its parent, if it has one) as diff, patch or bare id; `undefined` when JSON is asked for. */
export const commitInForm = async (
  { context: { git }, repository, form }: RepositoryCall,
  commit: { readonly sha: string; readonly parents: readonly string[] },
): Promise<RestAnswer | undefined> => {
  if (form === 'sha') return answerIn(form, commit.sha)
  if (form === 'diff') return answerIn(form, await diffText(git, repository.id, commit.parents[0], commit.sha))
  return form === 'patch' ? answerIn(form, await patchText(git, repository.id, undefined, commit.sha)) : undefined
}

/** What `head` has changed since it left `base` at `common`, as diff or patches; `undefined` when JSON is asked for. */
export const rangeInForm = async (
  { context: { git }, repository, form }: RepositoryCall,
  { base, common, head }: { readonly base: string; readonly common: string; readonly head: string },
): Promise<RestAnswer | undefined> => {
  if (form === 'diff') return answerIn(form, await diffText(git, repository.id, common, head))
  return form === 'patch' ? answerIn(form, await patchText(git, repository.id, base, head)) : undefined
}

/** The bytes of a file; `undefined` when JSON is asked for. */
export const fileInForm = async (
  { form }: Pick<RepositoryCall, 'form'>,
  read: () => Promise<Buffer>,
): Promise<RestAnswer | undefined> => (form === 'raw' ? answerIn(form, await read()) : undefined)
