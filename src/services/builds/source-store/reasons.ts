// The reasons that a fetch ends with, as conditions of RemoteSyncs say them. Copied as values, because the process of the store
// would otherwise load the schemas of the kinds; the type keeps them equal.
import type { remoteSyncReasons } from '../../../api/apps/remote-sync.ts'

type Reasons = typeof remoteSyncReasons

export const sourceReasons = {
  commitNotFound: 'CommitNotFound',
  sourceTooLarge: 'SourceTooLarge',
  sourceMalformed: 'SourceMalformed',
  sourceIncomplete: 'SourceIncomplete',
  fetchFailed: 'FetchFailed',
} as const satisfies Pick<Reasons, 'commitNotFound' | 'sourceTooLarge' | 'sourceMalformed' | 'sourceIncomplete' | 'fetchFailed'>
