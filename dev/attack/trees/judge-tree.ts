// What became of the files of a commit in an image. Pure.
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'

/**
 * A path in the image: a link by its target, a file by its beginning, a folder by its names; nothing of them when it is not
 * there.
 */
export type Found = { readonly link?: string; readonly text?: string; readonly names?: readonly string[] }
export type FoundPaths = Readonly<Record<string, Found>>

/** kpack leads absolute links back into the folder that it checks out. */
const workspace = '/workspace'

/** Links are in the image as links, not as what they lead to. */
export function judgeLinks(found: FoundPaths, links: ReadonlyMap<string, string>): Verdict {
  for (const [path, target] of links) {
    const { link, text } = found[path] ?? {}
    if (text !== undefined) return succeeded(`${path} is a file: ${text}`)
    if (link !== target && link !== `${workspace}${target}`) return unclear(`${path}: ${JSON.stringify(found[path])}`)
  }
  return stopped('absent', `${links.size} links are links`)
}

/** A link that a step follows leads to the file of that path in the commit, and never to that of the container. */
export function judgeFollowed(found: FoundPaths, path: string, inside: string): Verdict {
  const { text } = found[path] ?? {}
  if (text === undefined) return unclear(`${path}: ${JSON.stringify(found[path])}`)
  return text.trim() === inside ? stopped('absent', `${path} is the file of the commit`) : succeeded(`${path}: ${text}`)
}

/** Drivers and formats of attributes change nothing. */
export function judgeUnchanged(found: FoundPaths, files: ReadonlyMap<string, string>): Verdict {
  for (const [path, content] of files) {
    const { text } = found[path] ?? {}
    if (text === undefined) return unclear(`${path}: ${JSON.stringify(found[path])}`)
    if (text !== content) return succeeded(`${path} became ${text}`)
  }
  return stopped('absent', `${files.size} files are as they were pushed`)
}

/** The folder of a submodule has nothing in it. */
export function judgeEmpty(found: FoundPaths, path: string): Verdict {
  const { names, link, text } = found[path] ?? {}
  if (names === undefined && link === undefined && text === undefined) return stopped('absent', `${path} is not there`)
  if (names === undefined) return succeeded(`${path}: ${JSON.stringify(found[path])}`)
  return names.length === 0 ? stopped('absent', `${path} is empty`) : succeeded(`${path} has ${names.join(', ')}`)
}
