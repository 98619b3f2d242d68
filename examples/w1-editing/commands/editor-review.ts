import { reviewAs } from './review.ts';

await reviewAs('editor');
