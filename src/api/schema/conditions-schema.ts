// The schema of `status.conditions`, the same on every kind, so that `kubectl wait --for=condition=…` works everywhere.
import { choice, integer, list, object, text } from './schema.ts'

export const conditionsSchema = list(
  object(
    {
      type: text({ description: 'What the condition is about, such as Ready.', max: 316, pattern: '^[A-Za-z][A-Za-z0-9.]*$' }),
      status: choice(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
      reason: text({ description: 'Why, as one CamelCase word.', max: 128, pattern: '^[A-Za-z][A-Za-z0-9]*$' }),
      message: text({ description: 'Why, for a person, with the cure.', min: 0, max: 4096 }),
      lastTransitionTime: text({ description: 'When status last changed.', max: 64, format: 'date-time' }),
      observedGeneration: integer({ description: 'The generation it speaks of.', min: 0, max: Number.MAX_SAFE_INTEGER }),
    },
    { description: 'One aspect of the observed state.' },
  ),
  { description: 'What holds and what does not. Ready is the roll-up.', max: 16, unique: ['type'] },
)
