from fastapi import APIRouter, Depends, HTTPException

from app.auth import get_current_user
from app.database import get_session
from app.models import Label, Task, User

router = APIRouter(prefix="/tasks")


@router.delete("/{task_id}")
async def delete_task(task_id: int, user: User = Depends(get_current_user), session=Depends(get_session)):
    task = await session.get(Task, task_id)
    if task is None or task.owner_id != user.id:
        raise HTTPException(status_code=404)
    await session.delete(task)


@router.put("/{task_id}")
async def rename_task(task_id: int, title: str, user: User = Depends(get_current_user), session=Depends(get_session)):
    task = await session.get(Task, task_id)
    if task is None or task.owner_id != user.id:
        raise HTTPException(status_code=404)
    task.title = title
