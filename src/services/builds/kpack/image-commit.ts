// Which commit an image names as its source. kpack writes it into the image after it has checked the commit out, under the
// buildpacks' label `io.buildpacks.project.metadata`; it does not come from what was asked for. Pure. The lifecycle reads it
// from a file that code of the same build could change. That gains nothing: such code makes the image's content, too, and a
// label that names another commit than the requested one makes the image unusable.
// Source: https://github.com/buildpacks/spec/blob/main/platform.md#iobuildpacksprojectmetadata-json
import { objectAt, parseJson, textAt } from '../../../lib/json/json-value.ts'
import type { CommitProof } from '../builder.ts'

const label = 'io.buildpacks.project.metadata'
const maxLabel = 65_536
const fullCommit = /^[0-9a-f]{40}([0-9a-f]{24})?$/

/** The labels of an image, or why they cannot be read; `permanent` when the same image will not have them later either. */
export type LabelAnswer =
  | {
      readonly kind: 'labels'
      readonly labels: Readonly<Record<string, string>>
      /** Of a builder: as whom its phases run. */
      readonly lifecycleUser?: { readonly user: number; readonly group: number }
    }
  | { readonly kind: 'unreadable'; readonly message: string; readonly permanent: boolean }

export function commitOfImage(answer: LabelAnswer): CommitProof {
  if (answer.kind === 'unreadable') return { kind: answer.permanent ? 'absent' : 'unreadable', message: answer.message }
  const text = answer.labels[label]
  if (text === undefined) return { kind: 'absent', message: `it has no label ${label}` }
  if (text.length > maxLabel) return { kind: 'absent', message: `its label ${label} is too long` }
  const source = objectAt(parseJson(text), 'source')
  const commit = textAt(objectAt(source, 'version'), 'commit') ?? ''
  if (textAt(source, 'type') !== 'git' || !fullCommit.test(commit))
    return { kind: 'absent', message: `its label ${label} names no git commit` }
  return { kind: 'proven', commit }
}
