// Which malformed objects are refused. git's own checks are all errors here, warnings included (`index-pack --strict`), except
// for the mistakes that old tools really made and that cannot do anything: the text of a commit's header, and file modes with a
// leading zero. What git only notes is let through, such as .gitattributes as a link, which no checkout follows.
// Source: https://git-scm.com/docs/git-fsck#_fsck_messages ; the same kind of list as GitLab's
// (https://docs.gitlab.com/administration/gitaly/consistency_checks/)

/**
 * Never to be added: those about `.git`, `.`, `..`, `/` and empty names in trees (a checkout would write elsewhere), about
 * `.gitmodules` and `.gitattributes` (CVE-2018-11235, CVE-2018-17456, CVE-2022-41903), duplicate or unsorted entries (two
 * readers see two trees), and wrong types.
 */
const harmless = [
  'badDate',
  'badEmail',
  'badTimezone',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
] as const

/** The option of `git index-pack`: checks every object, and that everything an object names is in the pack. */
export const strictOption = `--strict=${harmless.map(message => `${message}=ignore`).join(',')}`
