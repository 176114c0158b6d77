// The schema of `status.conditions`, the same on every kind, so that `kubectl wait --for=condition=…` works everywhere.
import { timestamp } from './fields.ts'
import { choice, integer, list, object, text } from './schema.ts'

/** Characters. */
export const maxConditionMessage = 4096

export const conditionsSchema = list(
  object(
    {
      type: text({
        description: 'The aspect that the condition describes, such as `Ready`.',
        max: 316,
        pattern: '^[A-Za-z][A-Za-z0-9.]*$',
      }),
      status: choice(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
      reason: text({
        description: 'Why, as one CamelCase word for programs. The reference lists all reasons of each kind.',
        max: 128,
        pattern: '^[A-Za-z][A-Za-z0-9]*$',
      }),
      message: text({ description: 'Why, as text for people, and what to do about it.', min: 0, max: maxConditionMessage }),
      lastTransitionTime: timestamp('When `status` last changed.'),
      observedGeneration: integer({
        description: 'The `metadata.generation` for which the condition was determined.',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
    },
    { description: 'One aspect of the observed state.' },
  ),
  {
    description:
      'The observed state, one condition per aspect. `Ready` summarizes the others: `kubectl wait --for=condition=Ready` waits for it.',
    max: 16,
    unique: ['type'],
  },
)
